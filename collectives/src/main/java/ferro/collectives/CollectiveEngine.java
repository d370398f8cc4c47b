package ferro.collectives;

import ferro.Backend;
import ferro.CollectiveBackend;
import ferro.collectives.engine.BackendAdapter;
import ferro.collectives.engine.GroupEngine;
import ferro.collectives.engine.GroupIdentity;
import ferro.collectives.engine.LocalPeers;
import ferro.collectives.engine.PollBudget;
import ferro.collectives.plan.AlgorithmChooser;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.Overlay;
import ferro.control.membership.HeartbeatLimits;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.SegmentSize;
import ferro.spi.Settings;
import ferro.spi.Transport;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A factory of back ends with every collective. The factory makes each back end from a medium or from a plain back end.
 */
public final class CollectiveEngine {
    private CollectiveEngine() {}

    /**
     * Makes a back end that runs the engine on a transport.
     *
     * @param transport medium, closed with the back end
     * @param group     the group
     * @param context   settings, clock, timers
     * @return back end with every collective
     * @throws IllegalArgumentException in the same cases as {@link #check}
     */
    public static CollectiveBackend over(Transport transport, GroupSpec group, RankContext context) {
        check(transport, group, context);
        GroupSpec timed = group.withJoinTimeout(Deadlines.ofJoin(group, context));
        GroupIdentity place = GroupIdentity.watched(
                transport,
                timed,
                context,
                new GroupIdentity.EngineOptions(false, FailurePolicy.SHIPPED, Overlay.MAX_MESH));
        return new GroupEngine(transport, timed, context, place).warm().meet();
    }

    /**
     * Refuses settings that no engine can use. A medium whose ranks wait for each other before the engine exists calls
     * this method first. Then a rank with an invalid setting does not make the other ranks wait.
     *
     * @param context settings
     * @throws IllegalArgumentException if a setting is invalid; the message names the setting and the allowed values
     */
    public static void check(RankContext context) {
        Objects.requireNonNull(context, "context");
        AlgorithmChooser.of(Settings.ALGORITHM.of(context));
        Settings.SEGMENT.of(context);
        Settings.MESSAGE_BUFFER.of(context);
        HeartbeatLimits.of(context);
        PollBudget.of(context, 1);
    }

    private static void check(Transport transport, GroupSpec group, RankContext context) {
        Objects.requireNonNull(transport, "transport");
        Objects.requireNonNull(group, "group");
        check(context);
    }

    /**
     * Returns how much shared memory a group needs if all its ranks are on one host. The size is for a check of a
     * machine before a job starts.
     *
     * @param ranks number of ranks, at least 2
     * @return size of the segment of each rank, including the part that is allocated later; empty if so many ranks
     *     cannot share memory
     */
    public static Optional<SegmentSize> sharedMemoryOf(int ranks) {
        return LocalPeers.segmentOf(ranks);
    }

    /**
     * Runs the engine on the transport of a simulator that runs all ranks on one thread. The engine never waits and
     * starts no thread. A call that would block throws an IllegalStateException, whose message says that a simulation
     * runs all ranks on one thread.
     *
     * @param transport medium, closed with the back end
     * @param group     the group
     * @param context   settings, virtual clock, virtual timers
     * @return back end and the method that makes progress on it
     */
    public static SteppedEngine stepped(Transport transport, GroupSpec group, RankContext context) {
        return stepped(transport, group, context, FailurePolicy.SHIPPED, Overlay.MAX_MESH);
    }

    /**
     * Runs the engine as {@link #stepped(Transport, GroupSpec, RankContext)} does, but with a failure policy of the
     * caller. Tests use this method to inject a fault and to check whether the fault is found.
     *
     * @param transport medium, closed with the back end
     * @param group     the group
     * @param context   settings, virtual clock, virtual timers
     * @param rules     decisions after a failure of this group or of a group made of this group
     * @param maxMesh   size of the largest group in which each rank sends a failure to every other rank
     * @return back end and the method that makes progress on it
     */
    @SuppressWarnings("exports")
    public static SteppedEngine stepped(
            Transport transport, GroupSpec group, RankContext context, FailurePolicy rules, int maxMesh) {
        check(transport, group, context);
        Objects.requireNonNull(rules, "rules");
        GroupIdentity place =
                GroupIdentity.watched(transport, group, context, new GroupIdentity.EngineOptions(true, rules, maxMesh));
        return new SteppedEngine(new GroupEngine(transport, group, context, place));
    }

    /**
     * Makes a back end with every collective from the five methods of a plain back end.
     *
     * @param plain   plain back end, closed with the returned back end
     * @param context settings, clock, timers
     * @return back end with every collective. The back end refuses subgroups and an abort across ranks. When a
     *     point-to-point call returns a handle, the operation has already ended
     */
    public static CollectiveBackend over(Backend plain, RankContext context) {
        Objects.requireNonNull(plain, "plain");
        Objects.requireNonNull(context, "context");
        return BackendAdapter.over(plain, context);
    }

    /**
     * Returns whether a back end is an engine. An engine itself refuses calls on device tensors, with the text of
     * {@link ferro.dispatch.FallbackDecision#refusal}.
     *
     * @param backend back end
     * @return whether the back end is an engine; false for a wrapper around an engine
     */
    public static boolean isOne(CollectiveBackend backend) {
        return Objects.requireNonNull(backend, "backend") instanceof GroupEngine || backend instanceof BackendAdapter;
    }

    /** An engine on which the caller makes progress, one iteration at a time. */
    public static final class SteppedEngine {
        private final GroupEngine engine;

        private SteppedEngine(GroupEngine engine) {
            this.engine = engine;
        }

        /** {@return the back end; its calls are queued and never wait} */
        public CollectiveBackend backend() {
            return engine;
        }

        /**
         * Makes a group of some ranks without waiting. The work begins now and continues through control messages and
         * timers of the context.
         *
         * @param ranks   ranks of this group, including this rank, in the order of the new group
         * @param name    name of the new group, for messages
         * @param timeout time within which all ranks of the new group must make this call
         * @return a stage with this rank's engine in the new group, or with the FerroException that {@code newGroup}
         *     would throw. The caller must make progress on the new engine too. The stage completes on the background
         *     thread of the context
         */
        public CompletionStage<SteppedEngine> newGroup(int[] ranks, String name, Duration timeout) {
            return engine.form(ranks, name, timeout).thenApply(SteppedEngine::new);
        }

        /**
         * Does one iteration: checks deadlines, and makes all progress that is possible without waiting.
         *
         * @return whether any progress was made
         */
        public boolean advance() {
            return engine.step();
        }
    }
}
