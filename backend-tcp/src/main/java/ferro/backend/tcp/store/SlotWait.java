package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.LoopWaiter;
import ferro.backend.tcp.store.Roster.RankEntry;
import ferro.job.JobFinder;
import ferro.job.LauncherKind;
import ferro.job.RankOfJob;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * The wait for the slot of this rank while another process has the slot. If one rank is started again without the other
 * ranks, the earlier process of the rank still has the slot. The job of the earlier process ends soon, when the other
 * ranks detect the loss. A pod that was restarted also publishes its restart, because other ranks detect the loss of a
 * host late. Two live processes with one rank are an error that {@link Roster#claim} reports at once. In a cluster, two
 * processes with one rank are no error, because a cluster may start a process before the earlier process has ended.
 */
final class SlotWait {
    /** Launchers that start a single rank again, but only after the earlier process or host of the rank is gone. */
    private static final Set<LauncherKind> OF_PODS =
            EnumSet.of(LauncherKind.INDEX, LauncherKind.PYTORCH_JOB, LauncherKind.VOLCANO);

    private static final long FIRST_PAUSE_MILLIS = 20;
    private static final long LONGEST_PAUSE_MILLIS = 500;
    private static final int ANSWER_MILLIS = 1_000;

    private final GroupSpec group;
    private final RankContext context;
    private final Where where;
    private final JoinProgress progress;

    SlotWait(GroupSpec group, RankContext context, JoinProgress progress) {
        this.group = group;
        this.context = context;
        this.progress = progress;
        where = Where.of(group.name(), group.rank());
    }

    /**
     * Waits until this rank may request its slot.
     *
     * @return false if the store has ended during the wait, because the job that served the store has ended
     * @throws FerroException RENDEZVOUS at the deadline
     */
    boolean isFree(TcpStore store, TcpPort port) {
        long start = context.nanoTime();
        long pauseMillis = FIRST_PAUSE_MILLIS;
        Optional<RankEntry> holder = Optional.empty();
        boolean isPublished = !isOf(OF_PODS::contains);
        try {
            while (true) {
                holder = holder(store, holder, start);
                if (holder.isEmpty() || !isWaitedFor(holder.get(), port)) {
                    return true;
                }
                JoinState.HeldSlot held = new JoinState.HeldSlot(group.rank(), text(holder.get()));
                progress.enter(held);
                if (!isPublished) {
                    publishRestart(store, port, holder.get());
                    isPublished = true;
                }
                pause(pauseMillis, held);
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
        }
    }

    /** Ends the job of the process that has the slot, because the cluster has started this process in place of it. */
    private void publishRestart(TcpStore store, TcpPort port, RankEntry holder) {
        String text = "has been started again, as process "
                + ProcessHandle.current().pid() + " at " + port.advertised() + " in place of " + text(holder)
                + ": this job ends, so that all ranks join again";
        Roster.publish(store.until(progress), group, new Roster.RestartedRank(group.rank(), holder.instance(), text));
    }

    private boolean isOver() {
        return context.nanoTime() - progress.deadlineNanos() >= 0;
    }

    /**
     * Returns the process that has the slot. If a request that was sent shortly before the deadline fails after the
     * deadline, the failure names the last known process.
     */
    private Optional<RankEntry> holder(TcpStore store, Optional<RankEntry> before, long start) {
        try {
            return Roster.holder(store.until(progress), group);
        } catch (FerroException failure) {
            boolean over = failure.code() != Code.INTERRUPTED && isOver();
            boolean held = over && before.isPresent() && !store.isLost();
            throw held ? refused(before.get(), start) : progress.ofStore(failure);
        }
    }

    private boolean isWaitedFor(RankEntry holder, TcpPort port) {
        boolean isReleased =
                ReleasedSlots.of(context).lastGeneration(holder.instance()).isPresent();
        if (isReleased || port.hasAskedFor(holder.instance())) {
            return false;
        }
        return !answers(holder, port) || isOf(LauncherKind::ofACluster);
    }

    private boolean isOf(Predicate<LauncherKind> launchers) {
        return JobFinder.of(context)
                .job()
                .map(RankOfJob::family)
                .filter(launchers)
                .isPresent();
    }

    /**
     * Returns whether a process listens at the address that the slot contains; false if this process itself has that
     * address.
     */
    private static boolean answers(RankEntry holder, TcpPort port) {
        if (holder.host().equals(port.advertised())
                && holder.port() == port.bound().getPort()) {
            return false;
        }
        try (Socket probe = new Socket()) {
            Optional<InetAddress> link = AddressLookup.linkLocal(holder.host())
                    .flatMap(bare -> AddressLookup.onLinkOf(port.reachable(), bare));
            InetSocketAddress at = link.isPresent()
                    ? new InetSocketAddress(link.get(), holder.port())
                    : new InetSocketAddress(holder.host(), holder.port());
            probe.connect(at, ANSWER_MILLIS);
            return !probe.getLocalSocketAddress().equals(probe.getRemoteSocketAddress());
        } catch (IOException nobody) {
            return false;
        }
    }

    private FerroException refused(RankEntry holder, long start) {
        return new FerroException(
                Code.RENDEZVOUS,
                where,
                "joining \"" + group.name() + "\" as rank " + group.rank() + " failed: the rank is held by "
                        + text(holder) + ", whose job still ran after "
                        + TimeUnit.NANOSECONDS.toMillis(context.nanoTime() - start)
                        + " ms: a rank cannot rejoin a running job; end the other ranks, so that all ranks "
                        + "join again (ferro.join.timeout sets how long a rank waits)");
    }

    private static String text(RankEntry holder) {
        return "process " + holder.pid() + " at " + AddressLookup.text(holder.host(), holder.port());
    }

    private void pause(long millis, JoinState.HeldSlot held) {
        LoopWaiter.pause(
                millis,
                progress.deadlineNanos() - context.nanoTime(),
                where,
                () -> "interrupted while joining \"" + group.name() + "\" as rank " + group.rank() + ": "
                        + held.text());
    }
}
