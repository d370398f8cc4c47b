package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import io.netty.channel.Channel;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Opens the store of a rendezvous, serving it first where this rank is the one to serve. */
final class StoreOpening {
    private static final Logger LOG = System.getLogger("ferro.join");
    private static final long LINE_SECONDS = 3;
    private static final long GRACE_NANOS = 500_000_000;

    private final Rendezvous meeting;
    private final GroupSpec group;
    private final RankContext context;
    private final Consumer<String> line;
    private final Where where;
    private final String what;
    private final long deadline;

    private StoreOpening(Rendezvous meeting, GroupSpec group, RankContext context, Consumer<String> line) {
        this.meeting = meeting;
        this.group = group;
        this.context = context;
        this.line = line;
        where = Where.outside(group.name(), group.rank());
        what = "the store at " + Addresses.text(meeting.host(), meeting.port());
        deadline = context.nanoTime() + Deadlines.nanos(group.timeout());
    }

    static Store open(Rendezvous meeting, GroupSpec group, RankContext context) {
        return open(meeting, group, context, text -> LOG.log(Level.INFO, text));
    }

    /** Opens, and says every three seconds what it waits for. */
    static Store open(Rendezvous meeting, GroupSpec group, RankContext context, Consumer<String> line) {
        return new StoreOpening(meeting, group, context, line).open();
    }

    private Store open() {
        ScheduledFuture<?> lines = context.background()
                .scheduleAtFixedRate(() -> line.accept(waiting()), LINE_SECONDS, LINE_SECONDS, TimeUnit.SECONDS);
        try {
            return opened();
        } finally {
            lines.cancel(false);
        }
    }

    private Store opened() {
        TcpPort port = meeting.servedHere()
                ? TcpPort.serving(meeting, group, context, deadline)
                : TcpPort.use(group, context, deadline);
        try {
            InetSocketAddress at = meeting.servedHere()
                    ? port.bound()
                    : new InetSocketAddress(
                            Addresses.resolved(meeting.host(), deadline, context, where), meeting.port());
            Channel channel = connected(port, at);
            TcpStore store = new TcpStore(
                    channel,
                    new TcpStore.Opening(
                            what,
                            where,
                            context,
                            deadline,
                            group.timeout(),
                            meeting.servedHere(),
                            () -> context.release(TcpPort.class)));
            port.storeLost(at, false);
            channel.closeFuture().addListener(end -> port.storeLost(at, !store.isClosed()));
            return store;
        } catch (RuntimeException | Error failure) {
            context.release(TcpPort.class);
            throw failure;
        }
    }

    private Channel connected(TcpPort port, InetSocketAddress at) {
        try {
            return dialled(port, at);
        } catch (FerroException failure) {
            boolean told =
                    failure.code() != Code.RENDEZVOUS || failure.getCause() instanceof Refusal || port.hasLostStore(at);
            throw told ? failure : missing(failure);
        }
    }

    /** The dialer ends at the deadline by itself, with a better text; this wait is a second line. */
    private Channel dialled(TcpPort port, InetSocketAddress at) {
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
        try {
            long most = deadline - context.nanoTime() + GRACE_NANOS;
            return Waits.until(dialled, most, where, () -> served() + " did not answer before the deadline");
        } finally {
            dialled.cancel(false);
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

    private String waiting() {
        return "waiting for " + (meeting.servedByRankZero() ? "ranks [0] of " + group.worldSize() + ": " : "")
                + served() + " does not answer yet";
    }

    /** Where nobody answers, whoever serves is missing; that is the news, not that a connection failed. */
    private FerroException missing(FerroException failure) {
        boolean rankZero = meeting.servedByRankZero() && group.rank() != 0;
        String text = "joining \"" + group.name() + "\" as rank " + group.rank() + " failed: " + meeting.server()
                + " is"
                + " missing, " + failure.getMessage() + "; see whether it runs, and whether MASTER_ADDR and MASTER_PORT"
                + " are the same everywhere (ferro.timeout sets the time)";
        return new FerroException(Code.RENDEZVOUS, rankZero ? where.blaming("0") : where, text, failure);
    }
}
