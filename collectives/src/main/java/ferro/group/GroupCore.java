package ferro.group;

import ferro.Backend;
import ferro.CollectiveBackend;
import ferro.InvalidRankException;
import ferro.collectives.CollectiveEngine;
import ferro.dispatch.GpuCollectives;
import ferro.job.JobFinder;
import ferro.job.JobVariables;
import ferro.job.RankOfJob;
import ferro.recorder.FlightRecorder;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.LeakReport;
import ferro.spi.OnceRegistry;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import ferro.spi.UnknownSettings;
import java.lang.System.Logger.Level;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Arrays;

/**
 * The objects that all views of one group share.
 *
 * @param backend    back end of the group
 * @param way        receiver of the calls: the back end, or the dispatcher for device tensors that calls the back end
 * @param context    settings, for the group and the groups made of this group
 * @param coalescing open blocks
 * @param joined     handler of the thread whose end aborts the group; null for a group that was wrapped and not joined
 * @param dropped    watch on the user's object
 * @param debugged   whether the setting {@code ferro.debug} is on
 */
record GroupCore(
        CollectiveBackend backend,
        CollectiveBackend way,
        RankContext context,
        CoalescedBlocks coalescing,
        JoinedThreadExceptionHandler joined,
        GroupLeakDetector dropped,
        boolean debugged) {
    /** Joins a group. If an uncaught exception later ends the calling thread, the group is aborted. */
    static GroupCore join(GroupSpec group, RankContext context) {
        return ContextLifecycle.of(context).joined(group, () -> joined(group, context));
    }

    private static GroupCore joined(GroupSpec asked, RankContext context) {
        GroupSpec group = timed(asked, context);
        UnknownSettings.logOnce(context);
        tellOnce(group, context);
        // an error of the recorder's folder is reported before any back end is opened
        FlightRecorder.of(context, group);
        try {
            CollectiveBackend own = whole(BackendSelection.open(group, context), context);
            own.joinedBy(Thread.currentThread());
            return of(own, context, JoinedThreadExceptionHandler.joined(own), '"' + group.name() + '"');
        } finally {
            FlightRecorder.release(context);
        }
    }

    /**
     * Logs, once per context, one line with the cluster launcher that gave this rank its number, because several
     * launchers may be nested. Logs a warning if {@code ferro.debug} is on, because ranks that hang are not reported in
     * this case.
     */
    private static void tellOnce(GroupSpec group, RankContext context) {
        if (OnceRegistry.isFirst(context, "JobLine")) {
            tell(group, context);
            warnOfDebug(group, context);
        }
    }

    private static void warnOfDebug(GroupSpec group, RankContext context) {
        if (group.rank() == 0 && Settings.DEBUG.of(context)) {
            PlainLoggers.write(
                    "ferro.join",
                    Level.WARNING,
                    Settings.DEBUG.name()
                            + " is on: calls, joins and closes have no time limit, and silent ranks are not"
                            + " reported, so a job that hangs does not end; use this only with a debugger");
        }
    }

    private static void tell(GroupSpec group, RankContext context) {
        JobVariables found = JobFinder.of(context);
        if (found.job().isEmpty()) {
            return;
        }
        RankOfJob job = found.job().get();
        if (job.family().ofACluster() && job.rank() == group.rank() && job.worldSize() == group.worldSize()) {
            PlainLoggers.write("ferro.join", Level.INFO, found.line());
        }
    }

    /** Returns the description of the group with the deadlines that apply. */
    private static GroupSpec timed(GroupSpec asked, RankContext context) {
        return GroupSpec.of(asked.name(), asked.rank(), asked.worldSize(), Deadlines.inForce(asked.timeout(), context))
                .withJoinTimeout(Deadlines.inForce(asked.joinTimeout(), context));
    }

    /**
     * Wraps a back end, and makes the engine of a plain back end. A group over an engine is not watched for garbage
     * collection, because the caller has the engine and may close the engine itself.
     */
    static GroupCore over(Backend backend, RankContext context) {
        String name = "a group over " + backend.getClass().getSimpleName();
        CollectiveBackend own = whole(backend, context);
        own.joinedBy(Thread.currentThread());
        GroupCore wrapped = of(own, context, null, name);
        if (wrapped.backend == backend) {
            wrapped.dropped.closed();
        }
        ContextLifecycle.of(context).opened(wrapped);
        return wrapped;
    }

    private static CollectiveBackend whole(Backend backend, RankContext context) {
        return backend instanceof CollectiveBackend collective ? collective : CollectiveEngine.over(backend, context);
    }

    private static GroupCore of(
            CollectiveBackend backend, RankContext context, JoinedThreadExceptionHandler joined, String name) {
        CollectiveBackend way =
                needsDoor(backend) ? GpuCollectives.with(context).over(backend) : backend;
        GroupLeakDetector dropped = new GroupLeakDetector("ProcessGroup of rank " + backend.rank() + " of " + name);
        return new GroupCore(backend, way, context, new CoalescedBlocks(), joined, dropped, Settings.DEBUG.of(context));
    }

    /**
     * Returns whether calls go through the dispatcher for device tensors. An engine rejects device tensors itself. So
     * calls on host tensors need no dispatcher if no path for device tensors exists.
     */
    private static boolean needsDoor(CollectiveBackend backend) {
        return !backend.takesDeviceTensors() && (!CollectiveEngine.isOne(backend) || GpuCollectives.hasWay(backend));
    }

    /** Returns the deadline that applies when the program gives {@code limit}. */
    Duration inForce(Duration limit) {
        return debugged ? Deadlines.inForce(limit, context) : limit;
    }

    /** Returns how often the job has been started again. */
    int generation() {
        return Settings.GENERATION.find(context).orElse(0);
    }

    /** Makes a group of some ranks of this group. */
    GroupCore newGroup(int[] ranks, Duration timeout) {
        coalescing.refuse("newGroup");
        refuseDuplicates(ranks, backend.worldSize());
        String name = Arrays.toString(ranks);
        CollectiveBackend child = backend.newGroup(ranks.clone(), name, timeout);
        GroupCore made = of(child, context, joined, '"' + name + '"');
        ContextLifecycle.of(context).opened(made);
        if (joined != null) {
            joined.opened(child);
        }
        return made;
    }

    private static void refuseDuplicates(int[] ranks, int worldSize) {
        for (int i = 0; i < ranks.length; i++) {
            InvalidRankException.check("newGroup", "member", ranks[i], worldSize);
            for (int j = 0; j < i; j++) {
                if (ranks[i] == ranks[j]) {
                    throw new IllegalArgumentException(
                            "newGroup: rank " + ranks[i] + " is listed twice in " + Arrays.toString(ranks));
                }
            }
        }
    }

    /** Closes the group. The user's object stays reachable during the close. */
    void close(Duration bound, Object user) {
        close(bound);
        Reference.reachabilityFence(user);
    }

    /** Closes the back end. After this call, the end of the joining thread does not abort the group. */
    void close(Duration bound) {
        dropped.closed();
        Throwable failure = null;
        try {
            way.close(bound);
        } catch (RuntimeException | Error thrown) {
            failure = thrown;
            throw thrown;
        } finally {
            if (joined != null) {
                joined.closed(backend);
            }
            leaveContext(failure);
        }
    }

    /**
     * Removes this group from its context, which may close the context. The failure of the group's close is thrown
     * first.
     */
    private void leaveContext(Throwable ofGroup) {
        try {
            ContextLifecycle.of(context).closed(this);
        } catch (RuntimeException | Error failure) {
            if (ofGroup == null) {
                throw failure;
            }
            ofGroup.addSuppressed(failure);
        }
    }

    /**
     * Logs a warning for a group whose {@link ProcessGroup} was garbage collected while the group was open. The
     * engine's loops keep other objects of a group reachable, so only the user's object is watched. The group stays
     * open, because a close sends a goodbye to the other ranks, and only the program can decide whether the other ranks
     * may continue without this rank. Thread-safe.
     */
    static final class GroupLeakDetector {
        private final String name;
        private LeakReport report;
        private boolean over;

        /** Creates a watch without an object. The text {@code name} contains rank and group. */
        GroupLeakDetector(String name) {
            this.name = name;
        }

        /**
         * Returns the object that is watched for a group or a view. Views refer to the watched object, so that the
         * watched object is collected after all views.
         *
         * @param <T>   type of the user's object
         * @param made  object that is made now
         * @param first object of the group if {@code made} is a view; otherwise null
         */
        synchronized <T> T watched(T made, T first) {
            if (first != null) {
                return first;
            }
            if (!over) {
                report = LeakReport.watch(made, name, PlainLoggers.logger("ferro.group"));
            }
            return made;
        }

        /** Ends the watch, because the program or the context closes the group. */
        synchronized void closed() {
            over = true;
            if (report != null) {
                report.closed();
            }
        }
    }
}
