package ferro.backend.tcp.mesh;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.LoopWaiter;
import ferro.backend.tcp.net.SettingNames;
import ferro.backend.tcp.net.TlsPolicy;
import ferro.backend.tcp.store.EndedRanks;
import ferro.backend.tcp.store.InterfaceSpeed;
import ferro.backend.tcp.store.JoinProgress;
import ferro.backend.tcp.store.JoinState;
import ferro.backend.tcp.store.PeerHost;
import ferro.backend.tcp.store.ReleasedSlots;
import ferro.backend.tcp.store.Roster;
import ferro.backend.tcp.store.Roster.RankEntry;
import ferro.backend.tcp.store.Roster.SharedSettings;
import ferro.backend.tcp.store.TcpPort;
import ferro.backend.tcp.store.TcpStore;
import ferro.collectives.CollectiveEngine;
import ferro.spi.GroupSpec;
import ferro.spi.JoinProgressPrinter;
import ferro.spi.OnceRegistry;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** One join of a group, from the store to the last control connection, with one absolute deadline. */
final class TcpJoin {
    private static final long PAUSE_MILLIS = 100;

    /**
     * After a connection has failed, how long a join waits for the store to report the cause. A peer that has read the
     * cause may leave before this rank has read the cause.
     */
    private static final long NEWS_MILLIS = 250;

    private static final Supplier<String> NOTHING = () -> "";

    private final GroupSpec spec;
    private final RankContext context;
    private final Where where;
    /** The progress messages, which begin when the store is opened, or when this join begins. */
    private JoinProgress progress;

    TcpJoin(GroupSpec spec, RankContext context) {
        this.spec = spec;
        this.context = context;
        where = Where.of(spec.name(), spec.rank());
        progress = JoinProgress.resume(spec, context);
    }

    TcpMesh join() {
        NodeMemoryProvider intraNode = NodeMemoryProvider.find(context);
        Store store = context.store();
        try {
            return join(store, intraNode);
        } catch (RuntimeException | Error failure) {
            context.releaseStore();
            throw failure;
        }
    }

    private TcpMesh join(Store store, NodeMemoryProvider intraNode) {
        progress = JoinProgress.of(store, spec).orElse(progress);
        TcpPort port = TcpPort.use(spec, context, progress.deadlineNanos());
        JoinProgressPrinter.PhasePrinter lines = progress.lines();
        try {
            return join(store, intraNode, port);
        } finally {
            lines.close();
        }
    }

    private TcpMesh join(Store store, NodeMemoryProvider intraNode, TcpPort port) {
        RankEntry card = card(port, intraNode);
        Roster roster = roster(store, port, card);
        try {
            claim(roster, store.servedHere());
            check(intraNode, roster);
        } catch (RuntimeException | Error failure) {
            toldOfEnd(failure, roster);
            roster.giveUp();
            context.release(TcpPort.class);
            throw failure;
        }
        TcpMesh mesh = new TcpMesh(spec, context, port, roster.id(), within -> {
            roster.leave();
            context.releaseStore(within);
        });
        EndedRanks ends = EndedRanks.of(store, spec, context);
        try {
            port.enter(roster.id(), spec.worldSize(), mesh);
            roster.announce();
            RankEntry[] cards = withOwn(cards(roster, mesh), card);
            progress.work();
            mesh.joined = joined(intraNode, cards, ends, roster);
            sayMachines(cards);
            PeerRecord[] known = resolved(cards, port, roster);
            connected(port, mesh, known, roster);
            sayTls(port, mesh, cards);
            endIfStartedAgain(store, roster, port, mesh, cards);
            return mesh;
        } catch (RuntimeException | Error failure) {
            toldOfEnd(failure, roster);
            roster.giveUp();
            mesh.drop();
            throw failure;
        }
    }

    /**
     * Ends the group if one rank is started again without the other ranks. Only the rank that serves the store watches
     * for this.
     */
    private static void endIfStartedAgain(Store store, Roster roster, TcpPort port, TcpMesh mesh, RankEntry[] entries) {
        if (!store.servedHere()) {
            return;
        }
        roster.startedAgain().thenAccept(again -> {
            boolean isMember = again.rank() >= 0
                    && again.rank() < entries.length
                    && entries[again.rank()].instance() == again.instance();
            if (isMember) {
                FerroException gone = mesh.failure(again.rank(), Code.PEER_LOST, again.text(), null);
                // the connection stays open, so that the earlier process receives the cause if it is alive
                port.loop()
                        .run(() -> mesh.inboxes.tellAll(
                                again.rank(), (to, rank) -> to.events().cutOff(rank, gone)));
            }
        });
    }

    /**
     * Claims the slot of this rank in the store. If the store has not answered by the deadline of the join, the failure
     * names the store.
     */
    private void claim(Roster roster, boolean localStore) {
        progress.askStore(localStore);
        try {
            roster.claim();
        } catch (FerroException failure) {
            throw progress.ofStore(failure);
        }
        progress.work();
    }

    private long left() {
        return progress.deadlineNanos() - context.nanoTime();
    }

    private Roster roster(Store store, TcpPort port, RankEntry card) {
        SharedSettings settings = new SharedSettings(
                port.io().checksum(), port.tls().use(), port.io().debug());
        // stores of other classes apply their own time limits
        Store until = store instanceof TcpStore tcp ? tcp.until(progress) : store;
        return new Roster(until, spec, card, settings, ReleasedSlots.of(context));
    }

    /** Publishes to the other ranks that this rank will not try again, because its context has ended. */
    private void toldOfEnd(Throwable failure, Roster roster) {
        Optional<String> ended = context.ended();
        // if this process has not claimed the slot, another process may be this rank, and the other ranks need no
        // message
        if (ended.isPresent() && roster.isClaimed()) {
            String text = "rank " + spec.rank() + " of \"" + spec.name()
                    + "\" has stopped joining and will not try again: " + ended.get();
            told(failure, text, roster);
        }
    }

    private RankEntry card(TcpPort port, NodeMemoryProvider intraNode) {
        long instance = new SecureRandom().nextLong();
        port.asksFor(instance);
        return new RankEntry(
                port.advertised(),
                port.bound().getPort(),
                ProcessHandle.current().pid(),
                instance,
                PeerHost.of(spec, context, port.reachable()),
                intraNode.lacking());
    }

    /** Ends the join on all ranks if the settings of this rank do not allow the join. */
    private void check(NodeMemoryProvider intraNode, Roster roster) {
        try {
            intraNode.check();
            CollectiveEngine.check(context);
        } catch (IllegalArgumentException why) {
            throw told(why, "rank " + spec.rank() + " of \"" + spec.name() + "\": " + why.getMessage(), roster);
        }
    }

    private NodeMemoryProvider agreed(NodeMemoryProvider intraNode, String[] lacking, Roster roster) {
        try {
            return intraNode.agreed(lacking, where);
        } catch (FerroException why) {
            throw told(why, why.getMessage(), roster);
        }
    }

    private static <E extends Throwable> E told(E why, String text, Roster roster) {
        try {
            roster.fail(text);
        } catch (FerroException | IllegalStateException gone) {
            why.addSuppressed(gone);
        }
        return why;
    }

    private RankEntry[] cards(Roster roster, TcpMesh mesh) {
        RankEntry[] cards = new RankEntry[spec.worldSize()];
        List<CompletableFuture<Void>> coming = new ArrayList<>();
        for (int rank : others()) {
            coming.add(card(roster, rank).thenAccept(new Consumer<>() {
                @Override
                public void accept(RankEntry entry) {
                    cards[rank] = entry;
                }
            }));
        }
        CompletableFuture<Void> all = CompletableFuture.allOf(coming.toArray(new CompletableFuture<?>[0]));
        CompletableFuture<Void> any = roster.failed().toCompletableFuture().thenAccept(text -> {
            throw new FerroException(Code.RENDEZVOUS, where, Roster.text(text));
        });
        any.whenComplete((none, failure) -> all.completeExceptionally(unwrapped(failure)));
        // if this rank lacks descriptors for the connections of the other ranks, their store entries may never arrive
        mesh.ready.whenComplete((none, failure) -> {
            if (failure instanceof FerroException known && known.code() == Code.RESOURCE) {
                all.completeExceptionally(known);
            }
        });
        await(all, new JoinState.MissingRanks(() -> missing(cards), spec.worldSize(), NOTHING), NOTHING);
        return cards;
    }

    private RankEntry[] withOwn(RankEntry[] others, RankEntry own) {
        RankEntry[] all = others.clone();
        all[spec.rank()] = own;
        return all;
    }

    private TcpMesh.JoinResults joined(NodeMemoryProvider intraNode, RankEntry[] all, EndedRanks ends, Roster roster) {
        List<String> hosts = new ArrayList<>();
        List<String> machines = new ArrayList<>();
        // for each rank, the reason why the rank shares no memory; empty if it can
        String[] lacking = new String[all.length];
        for (int rank = 0; rank < all.length; rank++) {
            hosts.add(all[rank].host());
            machines.add(all[rank].placed());
            lacking[rank] = all[rank].lacking();
        }
        NodeMemoryProvider memory = agreed(intraNode, lacking, roster);
        return new TcpMesh.JoinResults(
                progress.deadlineNanos(), memory, List.copyOf(hosts), List.copyOf(machines), ends);
    }

    /** Returns the store entry of a rank. Reads an empty entry again later, because a failed rank may try again. */
    private CompletableFuture<RankEntry> card(Roster roster, int rank) {
        Function<byte[], CompletableFuture<RankEntry>> read = new Function<>() {
            @Override
            public CompletableFuture<RankEntry> apply(byte[] bytes) {
                if (bytes.length > 0) {
                    return CompletableFuture.completedFuture(RankEntry.of(Roster.text(bytes)));
                }
                CompletableFuture<Void> pause = new CompletableFuture<>();
                context.background().schedule(() -> pause.complete(null), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
                return pause.thenCompose(over -> card(roster, rank));
            }
        };
        return roster.card(rank).thenCompose(read).toCompletableFuture();
    }

    private List<Integer> missing(RankEntry[] cards) {
        List<Integer> missing = new ArrayList<>();
        for (int rank : others()) {
            if (cards[rank] == null) {
                missing.add(rank);
            }
        }
        return List.copyOf(missing);
    }

    /** Logs, once per host, the interface that carries the data, unless this is the loopback interface. */
    private void sayMachines(RankEntry[] all) {
        RankEntry own = all[spec.rank()];
        InterfaceSpeed used = own.home().used();
        if (used.name().isEmpty()) {
            return;
        }
        if (Settings.LOCAL_RANK.find(context).orElse(0) == 0) {
            String text = "rank " + spec.rank() + " is reached at " + AddressLookup.text(own.host(), own.port())
                    + ", by " + used.text();
            PlainLoggers.write("ferro.join", OnceRegistry.isFirst(context, text) ? Level.INFO : Level.DEBUG, text);
        }
        List<PeerHost> hosts = new ArrayList<>();
        for (RankEntry entry : all) {
            hosts.add(entry.home());
        }
        String faster = InterfaceSpeed.fasterEverywhere(hosts);
        if (spec.rank() == 0 && !faster.isEmpty()) {
            PlainLoggers.write("ferro.join", Level.WARNING, faster);
        }
    }

    /** Logs, once per job, whether data between hosts is encrypted, according to the connections. */
    private void sayTls(TcpPort port, TcpMesh mesh, RankEntry[] all) {
        Set<String> distinct = new HashSet<>();
        for (RankEntry entry : all) {
            distinct.add(entry.host());
        }
        int hosts = distinct.size();
        boolean between = hosts > 1 && !AddressLookup.areLoopback(distinct);
        boolean on = mesh.encrypts(others());
        boolean off = between && port.tls().use() == TlsPolicy.TlsMode.OFF;
        if (spec.rank() != 0 || !on && !off) {
            // all ranks are on this host, which may have several addresses, so no data leaves this host
            return;
        }
        String where = between ? "between " + hosts + " hosts" : "within one host";
        String text = on
                ? "TLS on " + where + " (TLS 1.3 by " + port.tls().provider()
                        + "; ferro.tls=off for a network that you trust)"
                : "TLS off " + where + ", as set by ferro.tls: anyone on their network can read and change the data";
        Level first = on ? Level.INFO : Level.WARNING;
        PlainLoggers.write("ferro.join", OnceRegistry.isFirst(context, text) ? first : Level.DEBUG, text);
    }

    private PeerRecord[] resolved(RankEntry[] cards, TcpPort port, Roster roster) {
        PeerRecord[] known = new PeerRecord[cards.length];
        for (int rank : others()) {
            String host = cards[rank].host();
            Optional<InetAddress> link = AddressLookup.linkLocal(host);
            List<InetAddress> all =
                    link.isPresent() ? List.of(onOwnLink(rank, link.get(), port, roster)) : resolved(rank, host);
            known[rank] = new PeerRecord(
                    AddressLookup.toDial(all, cards[rank].port()),
                    cards[rank].placed(),
                    cards[rank].home().isSameHost(cards[spec.rank()].home()));
        }
        return known;
    }

    /**
     * Returns a link-local address together with this host's interface to it. Without such an interface, ends the join
     * on all ranks and blames no rank.
     */
    private InetAddress onOwnLink(int rank, InetAddress announced, TcpPort port, Roster roster) {
        Optional<InetAddress> reachable = AddressLookup.onLinkOf(port.reachable(), announced);
        if (reachable.isPresent()) {
            return reachable.get();
        }
        String text = "rank " + spec.rank() + " of \"" + spec.name() + "\" cannot reach rank " + rank + " at "
                + AddressLookup.text(announced)
                + ": a link-local address holds on one network only, and this rank uses "
                + AddressLookup.text(port.reachable())
                + "; set addresses of one network for both ranks (ferro.tcp.interface, ferro.tcp.advertise)";
        throw told(new FerroException(Code.RENDEZVOUS, where, text), text, roster);
    }

    /** Resolves the name that a rank has published; the failure at the deadline names the rank. */
    private List<InetAddress> resolved(int rank, String host) {
        if (!AddressLookup.isLiteral(host)) {
            progress.enter(new JoinState.PeerLookup(rank, spec.worldSize(), host));
        }
        try {
            return AddressLookup.allResolved(host, progress.deadlineNanos(), context, where);
        } catch (FerroException failure) {
            if (failure.code() != Code.RENDEZVOUS) {
                throw failure;
            }
            String text = progress.failed() + " after " + progress.millis() + " ms: rank " + rank + " announced \""
                    + host
                    + "\", which has no address on this host; make rank " + rank + " announce an address that this host"
                    + " can reach (ferro.tcp.interface, ferro.tcp.advertise; ferro.join.timeout sets the time)";
            throw new FerroException(Code.RENDEZVOUS, where.blaming(rank), text, failure.getCause());
        }
    }

    /**
     * Connects to the peers, without using the store. Only one report of the store ends the wait: that this group
     * cannot be joined.
     */
    private void connected(TcpPort port, TcpMesh mesh, PeerRecord[] known, Roster roster) {
        port.loop().run(new Runnable() {
            @Override
            public void run() {
                try {
                    mesh.connect(known, progress.deadlineNanos());
                } catch (LinkageError broken) {
                    mesh.broken(others()[0], broken);
                }
            }
        });
        CompletableFuture<Void> ready = new CompletableFuture<>();
        mesh.ready.whenComplete((all, failure) -> {
            if (failure == null) {
                ready.complete(null);
            } else {
                context.background()
                        .schedule(() -> ready.completeExceptionally(failure), NEWS_MILLIS, TimeUnit.MILLISECONDS);
            }
        });
        roster.failed()
                .thenAccept(text ->
                        ready.completeExceptionally(new FerroException(Code.RENDEZVOUS, where, Roster.text(text))));
        Supplier<String> tried = () -> UnconnectedRank.text(mesh.unconnected());
        await(ready, new JoinState.MissingRanks(mesh::notReady, spec.worldSize(), tried), () -> advice(mesh));
    }

    /**
     * Returns a text about unconnected ranks. If a connection has not reached its peer, the text advises to open ports.
     */
    private static String advice(TcpMesh mesh) {
        List<UnconnectedRank> all = mesh.unconnected();
        if (all.isEmpty()) {
            return "";
        }
        return UnconnectedRank.text(all)
                + (all.stream().allMatch(UnconnectedRank::reached)
                        ? ""
                        : "; open their ports (ferro.tcp.port sets a range), or make them announce an address "
                                + "that this host can reach (ferro.tcp.interface, ferro.tcp.advertise)");
    }

    /** Waits until {@code all} completes. Meanwhile, the progress messages print the state and its missing ranks. */
    private void await(CompletableFuture<Void> all, JoinState.MissingRanks state, Supplier<String> advice) {
        progress.enter(state);
        long before = progress.millis();
        try {
            all.get(Math.max(0, left()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException passed) {
            throw tooLate(state.missing().get(), advice.get(), progress.millis() - before);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            String text = "interrupted while joining " + title() + ": " + state.text();
            throw new FerroException(Code.INTERRUPTED, where, text, interrupted);
        } catch (ExecutionException failed) {
            throw failure(unwrapped(failed.getCause()), state.missing().get());
        }
    }

    private FerroException tooLate(List<Integer> missing, String advice, long waitedMillis) {
        if (missing.isEmpty()) {
            String text = progress.tooSlow("all ranks have come, and this rank has not handled their answers yet");
            return new FerroException(Code.RENDEZVOUS, where, text);
        }
        if (progress.isSlowItself()) {
            return new FerroException(Code.RENDEZVOUS, where, progress.tooSlowFor(missing));
        }
        String why = advice.isEmpty()
                ? "which did not join within " + progress.millis() + " ms; check that they run, and check their "
                        + SettingNames.of(context).ofRanks()
                : "which announced themselves but did not connect within " + progress.millis() + " ms: " + advice;
        return new FerroException(
                Code.RENDEZVOUS,
                where.blaming(missing),
                "joining " + title() + " failed, missing: " + missing + " of " + spec.worldSize() + ", " + why
                        + progress.before(waitedMillis) + " (ferro.join.timeout sets the time)");
    }

    /**
     * Returns the failure of the join. The connection to the store may end while ranks are missing, because the rank
     * that serves the store has given up. Then, too, the failure names the missing ranks.
     */
    private FerroException failure(Throwable cause, List<Integer> missing) {
        FerroException known = LoopWaiter.failure(cause, where);
        String whom = missing.isEmpty() ? "" : ", waiting for ranks " + missing + " of " + spec.worldSize();
        String text =
                "joining " + title() + " failed after " + progress.millis() + " ms" + whom + ": " + known.getMessage();
        boolean own = known.code() == Code.RESOURCE && !known.where().culprits().isEmpty();
        return new FerroException(known.code(), own ? known.where() : where.blaming(missing), text, known);
    }

    private String title() {
        return "\"" + spec.name() + "\" as rank " + spec.rank();
    }

    private int[] others() {
        return RankArrays.others(spec);
    }

    private static Throwable unwrapped(Throwable failure) {
        return failure instanceof java.util.concurrent.CompletionException && failure.getCause() != null
                ? failure.getCause()
                : failure;
    }
}
