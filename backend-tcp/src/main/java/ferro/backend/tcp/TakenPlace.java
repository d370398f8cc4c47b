package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.Roster.Card;
import ferro.job.Family;
import ferro.job.Job;
import ferro.job.JobFinder;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Waits where the place of this rank is another process's: a rank that is started again alone finds that of the process before it,
 * in a job that ends soon, as its other ranks learn of the loss. Two processes that both live and have one rank are a mistake that
 * {@link Roster#claim} tells at once, unless a cluster has started them: it starts one while the other is still ending.
 */
final class TakenPlace {
    private static final byte[] NEVER = "\0never".getBytes(StandardCharsets.US_ASCII);
    private static final long FIRST_PAUSE_MILLIS = 20;
    private static final long LONGEST_PAUSE_MILLIS = 500;
    private static final int ANSWER_MILLIS = 1_000;

    private final GroupSpec group;
    private final RankContext context;
    private final Where where;
    private final long deadline;
    private volatile String waiting;

    TakenPlace(GroupSpec group, RankContext context, long deadline) {
        this.group = group;
        this.context = context;
        this.deadline = deadline;
        where = Where.outside(group.name(), group.rank());
    }

    /** What this waits for, while it does. */
    Optional<String> waiting() {
        return Optional.ofNullable(waiting);
    }

    /**
     * Waits until the place may be asked for.
     *
     * @return false if the store has gone away meanwhile, as it does with the job that it is part of
     * @throws FerroException RENDEZVOUS at the deadline
     */
    boolean isFree(TcpStore store, TcpPort port) {
        long start = context.nanoTime();
        long pauseMillis = FIRST_PAUSE_MILLIS;
        Optional<Card> holder = Optional.empty();
        try {
            while (true) {
                holder = holder(store, holder, start);
                if (holder.isEmpty() || !isWaitedFor(holder.get(), port)) {
                    return true;
                }
                waiting = "the place of rank " + group.rank() + " is that of " + text(holder.get())
                        + ", and the job that it belongs to is still there";
                pause(pauseMillis);
                if (isOver()) {
                    throw refused(holder.get(), start);
                }
                pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
            }
        } catch (FerroException failure) {
            if (store.isLost()) {
                return false;
            }
            throw failure;
        } finally {
            waiting = null;
        }
    }

    private boolean isOver() {
        return context.nanoTime() - deadline >= 0;
    }

    /** Asks whose the place is: what is asked shortly before the deadline may find it over, and who had the place is the reason. */
    private Optional<Card> holder(TcpStore store, Optional<Card> before, long start) {
        try {
            return Roster.holder(store.compareAndSet(Roster.slot(group), NEVER, NEVER));
        } catch (FerroException failure) {
            boolean over = failure.code() != Code.INTERRUPTED && isOver();
            throw over && before.isPresent() && !store.isLost() ? refused(before.get(), start) : failure;
        }
    }

    private boolean isWaitedFor(Card holder, TcpPort port) {
        if (port.hasAskedFor(holder.instance())) {
            return false;
        }
        return !answers(holder, port) || isOfACluster();
    }

    private boolean isOfACluster() {
        return JobFinder.of(context)
                .job()
                .map(Job::family)
                .filter(Family::ofACluster)
                .isPresent();
    }

    /** Whether somebody listens where the holder of the place did; where this process listens, it is gone. */
    private static boolean answers(Card holder, TcpPort port) {
        if (holder.host().equals(port.advertised())
                && holder.port() == port.bound().getPort()) {
            return false;
        }
        try (Socket probe = new Socket()) {
            probe.connect(new InetSocketAddress(holder.host(), holder.port()), ANSWER_MILLIS);
            return !probe.getLocalSocketAddress().equals(probe.getRemoteSocketAddress());
        } catch (IOException nobody) {
            return false;
        }
    }

    private FerroException refused(Card holder, long start) {
        return new FerroException(
                Code.RENDEZVOUS,
                where,
                "joining \"" + group.name() + "\" as rank " + group.rank() + " failed: its place is that of "
                        + text(holder) + ", and the job that it belongs to was still there after "
                        + TimeUnit.NANOSECONDS.toMillis(context.nanoTime() - start)
                        + " ms: a rank cannot come back into a running job; end the other ranks, so that all join anew"
                        + " (ferro.join.timeout sets how long a rank waits for that)");
    }

    private static String text(Card holder) {
        return "process " + holder.pid() + " at " + Addresses.text(holder.host(), holder.port());
    }

    private void pause(long millis) {
        Waits.pause(
                millis,
                deadline - context.nanoTime(),
                where,
                () -> "interrupted while waiting for an earlier job to end: " + waiting);
    }
}
