package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.Roster.Card;
import ferro.collectives.CollectiveEngine;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** One joining of a group, from the store to the last control connection, by one absolute deadline. */
final class TcpJoin {
    private static final Logger LOG = System.getLogger("ferro.join");
    private static final long LINE_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final long PAUSE_MILLIS = 100;

    /** A rank that has read in the store why it must leave may be gone before the others have read it. */
    private static final long NEWS_MILLIS = 250;

    private final GroupSpec spec;
    private final RankContext context;
    private final Where where;
    private final long start;
    private final long deadline;

    TcpJoin(GroupSpec spec, RankContext context) {
        this.spec = spec;
        this.context = context;
        where = Where.outside(spec.name(), spec.rank());
        start = context.nanoTime();
        deadline = start + Deadlines.nanos(spec.timeout());
    }

    TcpMesh join() {
        NearMemory near = NearMemory.find(context);
        Store store = context.store();
        try {
            return join(store, near);
        } catch (RuntimeException | Error failure) {
            context.releaseStore();
            throw failure;
        }
    }

    private TcpMesh join(Store store, NearMemory near) {
        TcpPort port = TcpPort.use(spec, context, deadline);
        Card card = new Card(
                port.advertised(),
                port.bound().getPort(),
                ProcessHandle.current().pid(),
                new SecureRandom().nextLong(),
                near.lacking(),
                "");
        Roster roster = new Roster(store, spec, card, port.io().checksum());
        String tuned;
        try {
            roster.claim();
            tuned = checked(near, roster);
        } catch (RuntimeException | Error failure) {
            roster.giveUp();
            context.release(TcpPort.class);
            throw failure;
        }
        Peers peers = new Peers(spec, port, roster.id());
        TcpMesh mesh = new TcpMesh(spec, context, port, peers, () -> {
            roster.leave();
            context.releaseStore();
        });
        try {
            port.enter(roster.id(), spec.worldSize(), peers);
            roster.announce(spec.rank() == 0 ? tuned : "");
            Card[] cards = cards(roster);
            mesh.share(agreed(near, lacking(cards, card), roster), spec.rank() == 0 ? tuned : cards[0].tuned());
            InetSocketAddress[] addresses = resolved(cards);
            port.loop().run(() -> peers.connect(addresses, deadline));
            connected(peers, roster);
            return mesh;
        } catch (RuntimeException | Error failure) {
            roster.giveUp();
            mesh.drop();
            throw failure;
        }
    }

    /** Returns this rank's table of algorithms, or ends a join that its settings forbid, and those of the others with it. */
    private String checked(NearMemory near, Roster roster) {
        try {
            near.check();
            CollectiveEngine.check(context);
            return CollectiveEngine.tuned(context);
        } catch (IllegalArgumentException why) {
            throw told(why, "rank " + spec.rank() + " of \"" + spec.name() + "\": " + why.getMessage(), roster);
        }
    }

    private NearMemory agreed(NearMemory near, String[] lacking, Roster roster) {
        try {
            return near.agreed(lacking, where);
        } catch (FerroException why) {
            throw told(why, why.getMessage(), roster);
        }
    }

    private static <E extends RuntimeException> E told(E why, String text, Roster roster) {
        try {
            roster.fail(text);
        } catch (FerroException | IllegalStateException gone) {
            why.addSuppressed(gone);
        }
        return why;
    }

    private Card[] cards(Roster roster) {
        Card[] cards = new Card[spec.worldSize()];
        CompletableFuture<?>[] coming = others().mapToObj(
                        rank -> card(roster, rank).thenAccept(card -> cards[rank] = card))
                .toArray(CompletableFuture[]::new);
        CompletableFuture<Void> all = CompletableFuture.allOf(coming);
        CompletableFuture<Void> any = roster.failed().toCompletableFuture().thenAccept(text -> {
            throw new FerroException(Code.RENDEZVOUS, where, Roster.text(text));
        });
        any.whenComplete((none, failure) -> all.completeExceptionally(unwrapped(failure)));
        await(all, () -> missing(cards), "did not come");
        return cards;
    }

    /** Returns why each rank shares no memory; empty for those that can. */
    private String[] lacking(Card[] others, Card own) {
        return IntStream.range(0, others.length)
                .mapToObj(rank -> rank == spec.rank() ? own.lacking() : others[rank].lacking())
                .toArray(String[]::new);
    }

    /** A rank that failed to join leaves an empty card, and may come back: asked again after a pause. */
    private CompletableFuture<Card> card(Roster roster, int rank) {
        return roster.card(rank)
                .thenCompose(bytes -> {
                    if (bytes.length > 0) {
                        return CompletableFuture.completedFuture(Card.of(Roster.text(bytes)));
                    }
                    return CompletableFuture.supplyAsync(
                                    () -> card(roster, rank),
                                    CompletableFuture.delayedExecutor(
                                            PAUSE_MILLIS, TimeUnit.MILLISECONDS, context.background()))
                            .thenCompose(again -> again);
                })
                .toCompletableFuture();
    }

    private List<Integer> missing(Card[] cards) {
        return others().filter(rank -> cards[rank] == null).boxed().toList();
    }

    private InetSocketAddress[] resolved(Card[] cards) {
        InetSocketAddress[] addresses = new InetSocketAddress[cards.length];
        others().forEach(rank -> addresses[rank] = new InetSocketAddress(
                Addresses.resolved(cards[rank].host(), deadline, context, where), cards[rank].port()));
        return addresses;
    }

    /** Goes on without the store, unless it tells that this group cannot be. */
    private void connected(Peers peers, Roster roster) {
        CompletableFuture<Void> ready = new CompletableFuture<>();
        peers.ready().whenComplete((all, failure) -> {
            if (failure == null) {
                ready.complete(null);
            } else {
                CompletableFuture.delayedExecutor(NEWS_MILLIS, TimeUnit.MILLISECONDS, context.background())
                        .execute(() -> ready.completeExceptionally(failure));
            }
        });
        roster.failed()
                .thenAccept(text ->
                        ready.completeExceptionally(new FerroException(Code.RENDEZVOUS, where, Roster.text(text))));
        await(ready, peers::notReady, "announced themselves but did not connect");
    }

    /** Waits, saying every three seconds for whom. */
    private void await(
            CompletableFuture<Void> all, java.util.function.Supplier<List<Integer>> missing, String trouble) {
        long line = context.nanoTime() + LINE_NANOS;
        while (true) {
            long now = context.nanoTime();
            if (now - deadline >= 0 && !all.isDone()) {
                throw tooLate(missing.get(), trouble);
            }
            try {
                all.get(Math.min(line - now, deadline - now), TimeUnit.NANOSECONDS);
                return;
            } catch (TimeoutException passed) {
                line = said(line, missing);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new FerroException(
                        Code.INTERRUPTED,
                        where,
                        "interrupted while joining " + title() + ": waiting for ranks " + missing.get(),
                        interrupted);
            } catch (ExecutionException failed) {
                throw failure(unwrapped(failed.getCause()), missing.get());
            }
        }
    }

    private long said(long line, java.util.function.Supplier<List<Integer>> missing) {
        if (context.nanoTime() - line < 0) {
            return line;
        }
        LOG.log(Level.INFO, "waiting for ranks " + missing.get() + " of " + spec.worldSize());
        return line + LINE_NANOS;
    }

    private FerroException tooLate(List<Integer> missing, String trouble) {
        return new FerroException(
                Code.RENDEZVOUS,
                blaming(missing),
                "joining " + title() + " failed, missing: " + missing + " of " + spec.worldSize() + ", which " + trouble
                        + " within "
                        + millis() + " ms; see whether they run, and their MASTER_ADDR, WORLD_SIZE, RANK and"
                        + " FERRO_JOB_ID (ferro.timeout sets the time)");
    }

    /** A store that goes away while ranks are missing went with one that has given up: the missing ones are the news. */
    private FerroException failure(Throwable cause, List<Integer> missing) {
        FerroException known = Waits.failure(cause, where);
        String text = "joining " + title() + " failed after " + millis() + " ms, waiting for ranks " + missing + " of "
                + spec.worldSize() + ": " + known.getMessage();
        return new FerroException(known.code(), blaming(missing), text, known);
    }

    private String title() {
        return "\"" + spec.name() + "\" as rank " + spec.rank();
    }

    private long millis() {
        return TimeUnit.NANOSECONDS.toMillis(context.nanoTime() - start);
    }

    private Where blaming(List<Integer> ranks) {
        return where.blaming(ranks.stream().map(String::valueOf).collect(Collectors.joining(",")));
    }

    private IntStream others() {
        return IntStream.range(0, spec.worldSize()).filter(rank -> rank != spec.rank());
    }

    private static Throwable unwrapped(Throwable failure) {
        return failure instanceof java.util.concurrent.CompletionException && failure.getCause() != null
                ? failure.getCause()
                : failure;
    }
}
