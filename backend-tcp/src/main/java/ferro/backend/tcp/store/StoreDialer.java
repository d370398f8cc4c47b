package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.ConnectAttempts;
import ferro.backend.tcp.net.Hello;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.net.SettingNames;
import ferro.backend.tcp.net.TcpDialer;
import ferro.spi.GroupSpec;
import ferro.spi.OnceRegistry;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import io.netty.channel.Channel;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/** Connects to one store at a known address. Tries until the deadline, because the server may start late. */
final class StoreDialer {
    private static final System.Logger LOG = PlainLoggers.logger("ferro.join");
    /**
     * Time after which the host name of the store is resolved again. The address of a name may change, for example if a
     * pod restarts.
     */
    private static final long RESOLVE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Rendezvous meeting;
    private final GroupSpec group;
    private final RankContext context;
    private final TcpPort port;
    private final Where where;
    private final String what;
    private final JoinProgress progress;
    private final ConnectAttempts notes;
    private volatile List<InetSocketAddress> known;
    private long resolved;
    private int resolutions;

    StoreDialer(Rendezvous meeting, GroupSpec group, RankContext context, TcpPort port, JoinProgress progress) {
        this.meeting = meeting;
        this.group = group;
        this.context = context;
        this.port = port;
        this.progress = progress;
        notes = new ConnectAttempts(port::now);
        where = Where.of(group.name(), group.rank());
        int number = meeting.port() > 0 ? meeting.port() : port.bound().getPort();
        what = "the store at " + AddressLookup.text(meeting.host(), number);
    }

    /** Returns the name of the store for messages, such as "the store at 10.0.0.1:29500". */
    String what() {
        return what;
    }

    /** Returns the store address to which a channel is connected. */
    InetSocketAddress at(Channel channel) {
        return meeting.servedHere() ? port.bound() : (InetSocketAddress) channel.remoteAddress();
    }

    private JoinState calling() {
        if (meeting.servedHere()) {
            return new JoinState.StoreStartup(progress.rank(), progress.time(), what, notes);
        }
        String ranks = meeting.servedByRankZero() ? "ranks [0] of " + group.worldSize() + ": " : "";
        return new JoinState.ConnectWait(ranks, progress.time(), served(), notes);
    }

    /**
     * Connects to the store.
     *
     * @param outdated returns whether the store is known to have another address now; called repeatedly
     * @return channel; empty if the store has another address
     * @throws FerroException at the deadline, or with a refusal of the server
     */
    Optional<Channel> connected(BooleanSupplier outdated) {
        known = meeting.servedHere()
                ? List.of(port.bound())
                : toDial(AddressLookup.allResolved(meeting.host(), progress.deadlineNanos(), context, where));
        resolved = context.nanoTime();
        progress.enter(calling());
        try {
            return dialled(outdated);
        } catch (FerroException failure) {
            boolean told = failure.code() != Code.RENDEZVOUS || failure.getCause() instanceof Refusal || hasLostStore();
            throw told ? failure : missing(failure);
        }
    }

    private Optional<Channel> dialled(BooleanSupplier outdated) {
        TcpDialer.DialledPeer call = new TcpDialer.DialledPeer(
                () -> known,
                Hello.ConnectionKind.STORE,
                new Hello.RankPair(0, group.rank(), group.worldSize(), -1),
                Hello.ChannelIdentity.NONE,
                served(),
                where,
                progress.deadlineNanos());
        AtomicBoolean tried = new AtomicBoolean();
        return port.dialer()
                .connected(
                        call,
                        () -> hasLostStore() && tried.getAndSet(true) ? goneForGood() : null,
                        () -> outdated.getAsBoolean() || checked(),
                        port::now,
                        notes);
    }

    /**
     * Warns once if this host's loopback is down, and resolves the store's host name again. Does nothing after the
     * deadline, because a name service may be slow. Always returns false, which means that the caller still wants a
     * connection.
     */
    private boolean checked() {
        long now = context.nanoTime();
        if (now - progress.deadlineNanos() >= 0) {
            return false;
        }
        if (notes.isLoopbackDown() && OnceRegistry.isFirst(context, ConnectAttempts.LOOPBACK_DOWN)) {
            LOG.log(
                    Level.WARNING,
                    progress.rank() + " cannot connect to " + served() + ": " + ConnectAttempts.LOOPBACK_DOWN);
        }
        if (!meeting.servedHere() && now - resolved >= RESOLVE_NANOS) {
            resolveAgain(++resolutions);
            resolved = now;
        }
        return false;
    }

    private void resolveAgain(int attempt) {
        try {
            known = toDial(AddressLookup.attempt(meeting.host(), 2 * attempt - 1));
        } catch (UnknownHostException unknown) {
            // continues with the earlier addresses, which may still be correct
        }
    }

    private List<InetSocketAddress> toDial(List<InetAddress> resolved) {
        return AddressLookup.toDial(StoreHostResolver.addresses(meeting.host(), resolved, where), meeting.port());
    }

    private boolean hasLostStore() {
        for (InetSocketAddress at : known) {
            if (port.hasLostStore(at)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the failure for a store that this process has reached before. Such a store does not come back, so a wait
     * would not help.
     */
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

    /**
     * Returns the failure for a store that does not answer. The failure names the missing server. The failure blames no
     * other rank if this rank serves the store, or if this rank was slow and therefore connected late.
     */
    private FerroException missing(FerroException failure) {
        if (notes.isLoopbackDown()) {
            String down = progress.failed() + ": " + failure.getMessage() + " (ferro.join.timeout sets the time)";
            return progress.ofThisRank(down, failure);
        }
        if (meeting.servedHere()) {
            return progress.ofThisRank(progress.unserved(what, notes), failure);
        }
        // whether each address was tried at most once before the deadline
        boolean oneChance = !notes.hasEnded() || notes.attempts() <= known.size();
        if (progress.isSlowItself() && oneChance) {
            String called = notes.attempts() == 0
                    ? "the rank has not called " + served() + " yet"
                    : "the rank has called " + served() + " only " + notes.triedMillis() + " ms before its timeout";
            return progress.ofThisRank(progress.tooSlow(called), failure);
        }
        boolean rankZero = meeting.servedByRankZero() && group.rank() != 0;
        return new FerroException(
                Code.RENDEZVOUS, rankZero ? where.blaming(0) : where, missingServer(failure), failure);
    }

    private String missingServer(FerroException failure) {
        String advice = notes.reached()
                ? "; check whether its process is stopped or has no free core, and whether another program has its port"
                : "; check whether it runs, and whether "
                        + SettingNames.of(context).ofStore() + " everywhere";
        return progress.failed() + ": " + meeting.server() + (notes.reached() ? " does not answer, " : " is missing, ")
                + failure.getMessage() + progress.before(notes.triedMillis()) + advice
                + " (ferro.join.timeout sets the time)";
    }
}
