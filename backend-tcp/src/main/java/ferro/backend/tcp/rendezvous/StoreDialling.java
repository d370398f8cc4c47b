package ferro.backend.tcp.rendezvous;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.connect.Addresses;
import ferro.backend.tcp.connect.ConnectAttempts;
import ferro.backend.tcp.connect.Hello;
import ferro.backend.tcp.connect.Refusal;
import ferro.backend.tcp.connect.StoreSettings;
import ferro.backend.tcp.connect.TcpDialer;
import ferro.backend.tcp.connect.Waits;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import io.netty.channel.Channel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Connects to one store at a known address; tries until the deadline, because its server may start later. */
final class StoreDialling {
    private static final long GRACE_NANOS = 500_000_000;
    private static final long LOOK_NANOS = 250_000_000;
    /** Time after which the name is resolved again: it may get another address, as that of a pod that is restarted. */
    private static final long RESOLVE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Rendezvous meeting;
    private final GroupSpec group;
    private final RankContext context;
    private final TcpPort port;
    private final Where where;
    private final String what;
    private final long deadline;
    private volatile List<InetSocketAddress> known;

    StoreDialling(Rendezvous meeting, GroupSpec group, RankContext context, TcpPort port, long deadline) {
        this.meeting = meeting;
        this.group = group;
        this.context = context;
        this.port = port;
        this.deadline = deadline;
        where = Where.of(group.name(), group.rank());
        int number = meeting.port() > 0 ? meeting.port() : port.bound().getPort();
        what = "the store at " + Addresses.text(meeting.host(), number);
    }

    /** Returns the name of the store for messages: "the store at 10.0.0.1:29500". */
    String what() {
        return what;
    }

    /** Returns the address of the store to which a channel leads. */
    InetSocketAddress at(Channel channel) {
        return meeting.servedHere() ? port.bound() : (InetSocketAddress) channel.remoteAddress();
    }

    String waiting() {
        return meeting.servedByRankZero()
                ? "waiting for ranks [0] of " + group.worldSize() + ": " + served() + " does not answer yet"
                : "waiting for " + served() + ", which does not answer yet";
    }

    /**
     * Connects to the store.
     *
     * @param outdated polled; returns whether the store is known to be at another place now
     * @return channel; empty if the store is at another place
     * @throws FerroException at the deadline, or as the other side reports
     */
    Optional<Channel> connected(BooleanSupplier outdated) {
        known = meeting.servedHere()
                ? List.of(port.bound())
                : toDial(Addresses.allResolved(meeting.host(), deadline, context, where));
        try {
            return dialled(outdated);
        } catch (FerroException failure) {
            boolean told = failure.code() != Code.RENDEZVOUS || failure.getCause() instanceof Refusal || hasLostStore();
            throw told ? failure : missing(failure);
        }
    }

    /** Dials the store. The dialer itself ends at the deadline; if its loop is late, the caller does, with the same text. */
    private Optional<Channel> dialled(BooleanSupplier outdated) {
        TcpDialer.DialledPeer call = new TcpDialer.DialledPeer(
                () -> known,
                Hello.ConnectionKind.STORE,
                new Hello.Peering(0, group.rank(), group.worldSize(), -1),
                Hello.ChannelIdentity.NONE,
                served(),
                where,
                deadline);
        AtomicBoolean tried = new AtomicBoolean();
        ConnectAttempts notes = new ConnectAttempts(port::now);
        long begun = port.now();
        CompletableFuture<Channel> dialled =
                port.dialer().dial(call, () -> hasLostStore() && tried.getAndSet(true) ? goneForGood() : null, notes);
        Optional<Channel> channel = Optional.empty();
        try {
            channel = awaited(dialled, outdated, () -> notes.gaveUp(call, begun, null));
            return channel;
        } finally {
            if (channel.isEmpty() && !dialled.cancel(false)) {
                dialled.thenAccept(Channel::close);
            }
        }
    }

    private Optional<Channel> awaited(
            CompletableFuture<Channel> dialled, BooleanSupplier outdated, Supplier<FerroException> late) {
        long resolve = context.nanoTime() + RESOLVE_NANOS;
        for (int attempt = 0; true; ) {
            long now = context.nanoTime();
            long left = deadline - now + GRACE_NANOS;
            Optional<Channel> channel = Waits.within(dialled, Math.min(left, LOOK_NANOS), where);
            if (channel.isPresent() || outdated.getAsBoolean()) {
                return channel;
            }
            if (left <= 0) {
                throw late.get();
            }
            if (!meeting.servedHere() && now - resolve >= 0) {
                resolveAgain(++attempt);
                resolve = now + RESOLVE_NANOS;
            }
        }
    }

    private void resolveAgain(int attempt) {
        try {
            known = toDial(Addresses.attempt(meeting.host(), 2 * attempt - 1));
        } catch (UnknownHostException unknown) {
            // the addresses known before may still be right
        }
    }

    private List<InetSocketAddress> toDial(List<InetAddress> resolved) {
        return Addresses.toDial(ReachableStore.addresses(meeting.host(), resolved, where), meeting.port());
    }

    private boolean hasLostStore() {
        return known.stream().anyMatch(port::hasLostStore);
    }

    /** Returns the failure for a store that was here before: a wait, as at the start of a job, would be in vain. */
    private FerroException goneForGood() {
        return new FerroException(
                Code.RENDEZVOUS,
                where,
                "joining \"" + group.name() + "\" as rank " + group.rank() + " failed: " + served()
                        + " was reached before and is gone now; joined groups continue and can be split, but "
                        + "no new group can be joined: restart the job");
    }

    private String served() {
        return meeting.servedHere() ? what : what + " that " + meeting.server() + " serves";
    }

    /** Returns the failure for a store that does not answer: it names the missing server, not only a failed connection. */
    private FerroException missing(FerroException failure) {
        boolean rankZero = meeting.servedByRankZero() && group.rank() != 0;
        String text = "joining \"" + group.name() + "\" as rank " + group.rank() + " failed: " + meeting.server()
                + " is"
                + " missing, " + failure.getMessage() + "; check whether it runs, and whether "
                + StoreSettings.of(context).ofStore() + " everywhere (ferro.join.timeout sets the time)";
        return new FerroException(Code.RENDEZVOUS, rankZero ? where.blaming(0) : where, text, failure);
    }
}
