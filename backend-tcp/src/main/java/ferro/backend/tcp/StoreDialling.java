package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import io.netty.channel.Channel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/** The connection to one store whose place is known: tried until the deadline, as whoever serves it may come later. */
final class StoreDialling {
    private static final long GRACE_NANOS = 500_000_000;
    private static final long LOOK_NANOS = 250_000_000;
    /** A name may get another address, as that of a pod which is started again. */
    private static final long RESOLVE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Rendezvous meeting;
    private final GroupSpec group;
    private final RankContext context;
    private final TcpPort port;
    private final Where where;
    private final String what;
    private final long deadline;
    private volatile InetSocketAddress at;

    StoreDialling(Rendezvous meeting, GroupSpec group, RankContext context, TcpPort port, long deadline) {
        this.meeting = meeting;
        this.group = group;
        this.context = context;
        this.port = port;
        this.deadline = deadline;
        where = Where.outside(group.name(), group.rank());
        int number = meeting.port() > 0 ? meeting.port() : port.bound().getPort();
        what = "the store at " + Addresses.text(meeting.host(), number);
    }

    /** For messages: "the store at 10.0.0.1:29500". */
    String what() {
        return what;
    }

    /** Where it is, as far as it is known by now. */
    InetSocketAddress at() {
        return at;
    }

    String waiting() {
        return "waiting for " + (meeting.servedByRankZero() ? "ranks [0] of " + group.worldSize() + ": " : "")
                + served() + " does not answer yet";
    }

    /**
     * Connects.
     *
     * @param outdated asked now and then whether the place is known to be another one by now
     * @return empty if it is
     * @throws FerroException at the deadline, or as the other side says
     */
    Optional<Channel> connected(BooleanSupplier outdated) {
        at = meeting.servedHere()
                ? port.bound()
                : new InetSocketAddress(Addresses.resolved(meeting.host(), deadline, context, where), meeting.port());
        try {
            return dialled(outdated);
        } catch (FerroException failure) {
            boolean told =
                    failure.code() != Code.RENDEZVOUS || failure.getCause() instanceof Refusal || port.hasLostStore(at);
            throw told ? failure : missing(failure);
        }
    }

    /** The dialer ends at the deadline by itself, with a better text; the bound here is a second line. */
    private Optional<Channel> dialled(BooleanSupplier outdated) {
        TcpDialer.Call call = new TcpDialer.Call(
                () -> at,
                Hello.Kind.STORE,
                new Hello.Member(0, group.rank(), group.worldSize(), -1),
                Hello.Channel.NONE,
                served(),
                where,
                deadline);
        AtomicBoolean tried = new AtomicBoolean();
        CompletableFuture<Channel> dialled =
                port.dialer().dial(call, () -> port.hasLostStore(at) && tried.getAndSet(true) ? goneForGood() : null);
        Optional<Channel> channel = Optional.empty();
        try {
            channel = awaited(dialled, outdated);
            return channel;
        } finally {
            if (channel.isEmpty() && !dialled.cancel(false)) {
                dialled.thenAccept(Channel::close);
            }
        }
    }

    private Optional<Channel> awaited(CompletableFuture<Channel> dialled, BooleanSupplier outdated) {
        long resolve = context.nanoTime() + RESOLVE_NANOS;
        for (int attempt = 0; true; ) {
            long now = context.nanoTime();
            long left = deadline - now + GRACE_NANOS;
            Optional<Channel> channel = Waits.within(dialled, Math.min(left, LOOK_NANOS), where);
            if (channel.isPresent() || outdated.getAsBoolean()) {
                return channel;
            }
            if (left <= 0) {
                throw new FerroException(Code.RENDEZVOUS, where, served() + " did not answer before the deadline");
            }
            if (!meeting.servedHere() && now - resolve >= 0) {
                resolveAgain(++attempt);
                resolve = now + RESOLVE_NANOS;
            }
        }
    }

    private void resolveAgain(int attempt) {
        try {
            InetAddress now = Addresses.attempt(meeting.host(), 2 * attempt - 1);
            if (!now.equals(at.getAddress())) {
                at = new InetSocketAddress(now, meeting.port());
            }
        } catch (UnknownHostException unknown) {
            // the one known before may still be right
        }
    }

    /** It was there for this process: waiting for it to come, as at the start of a job, would be in vain. */
    private FerroException goneForGood() {
        return new FerroException(
                Code.RENDEZVOUS,
                where,
                "joining \"" + group.name() + "\" as rank " + group.rank() + " failed: " + served()
                        + " was here and has gone away; groups that are joined go on and can be split, but no new one can"
                        + " be joined: start the job again");
    }

    private String served() {
        return meeting.servedHere() ? what : what + " that " + meeting.server() + " serves";
    }

    /** Where nobody answers, whoever serves is missing; that is the news, not that a connection failed. */
    private FerroException missing(FerroException failure) {
        boolean rankZero = meeting.servedByRankZero() && group.rank() != 0;
        String text = "joining \"" + group.name() + "\" as rank " + group.rank() + " failed: " + meeting.server()
                + " is"
                + " missing, " + failure.getMessage() + "; see whether it runs, and whether MASTER_ADDR and MASTER_PORT"
                + " are the same everywhere (ferro.join.timeout sets the time)";
        return new FerroException(Code.RENDEZVOUS, rankZero ? where.blaming("0") : where, text, failure);
    }
}
