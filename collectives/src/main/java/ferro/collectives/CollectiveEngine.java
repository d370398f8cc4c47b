package ferro.collectives;

import ferro.Backend;
import ferro.CollectiveBackend;
import ferro.collectives.algorithm.AlgorithmChoice;
import ferro.collectives.algorithm.TunedRows;
import ferro.collectives.control.failure.FailurePolicy;
import ferro.collectives.control.membership.HeartbeatTimes;
import ferro.collectives.engine.GroupEngine;
import ferro.collectives.engine.GroupIdentity;
import ferro.collectives.engine.exec.LinkExecutor;
import ferro.collectives.engine.plain.PlainEngine;
import ferro.collectives.engine.progress.WaitBudget;
import ferro.collectives.engine.shm.LocalPeers;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.SegmentSize;
import ferro.spi.Settings;
import ferro.spi.Transport;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** Makes a whole back end from a medium. */
public final class CollectiveEngine {
    private static final System.Logger LOG = System.getLogger("ferro.group");

    private CollectiveEngine() {}

    /**
     * Puts the engine on a transport.
     *
     * @param transport medium, closed with the back end
     * @param group     the group
     * @param context   settings, clock, timers
     * @return back end with every collective
     * @throws IllegalArgumentException as {@link #check} and {@link #tuned}
     */
    public static CollectiveBackend over(Transport transport, GroupSpec group, RankContext context) {
        check(transport, group, context);
        return over(transport, group, context, tuned(context));
    }

    /**
     * As {@link #over(Transport, GroupSpec, RankContext)}, with the table of algorithms that rank 0 has sent to all ranks.
     * It is in force here and in the groups made of this one; a rank that was given another table logs a warning.
     *
     * @param transport medium, closed with the back end
     * @param group     the group
     * @param context   settings, clock, timers
     * @param ofRankZero what {@link #tuned} returned there
     * @return back end with every collective
     * @throws IllegalArgumentException as {@link #check}
     */
    public static CollectiveBackend over(Transport transport, GroupSpec group, RankContext context, String ofRankZero) {
        check(transport, group, context);
        TunedRows inForce = TunedRows.parse(Objects.requireNonNull(ofRankZero, "ofRankZero"));
        TunedRows own = TunedRows.read(Settings.ALGORITHM_TABLE.find(context));
        if (own != TunedRows.NONE && own.hash() != inForce.hash()) {
            LOG.log(
                    Level.WARNING,
                    "group \"" + group.name() + "\" rank " + group.rank() + ": " + Settings.ALGORITHM_TABLE.name()
                            + " differs from that of rank 0, which is in force: give all ranks the same");
        }
        GroupIdentity place = GroupIdentity.watched(
                transport,
                group,
                context,
                new GroupIdentity.EngineOptions(false, LinkExecutor.RUNS_MOST, FailurePolicy.SHIPPED, inForce));
        return new GroupEngine(transport, group, context, place).warm().meet();
    }

    /**
     * Refuses settings that no engine can use. Where ranks wait for each other before there is an engine, the medium calls
     * this first, so that the others need not wait for this rank.
     *
     * @param context settings
     * @throws IllegalArgumentException if a setting is invalid; its message names the setting and the allowed values
     */
    public static void check(RankContext context) {
        Objects.requireNonNull(context, "context");
        AlgorithmChoice.of(Settings.ALGORITHM.of(context));
        Settings.SEGMENT.of(context);
        Settings.WARM_UP.of(context);
        HeartbeatTimes.of(context);
        WaitBudget.of(context, 1);
    }

    private static void check(Transport transport, GroupSpec group, RankContext context) {
        Objects.requireNonNull(transport, "transport");
        Objects.requireNonNull(group, "group");
        check(context);
    }

    /**
     * Reads this rank's table of algorithms ({@code ferro.algorithm.table}).
     *
     * @param context settings
     * @return its lines, empty for none
     * @throws IllegalArgumentException if it cannot be read, or makes no sense
     */
    public static String tuned(RankContext context) {
        return TunedRows.read(Settings.ALGORITHM_TABLE.find(Objects.requireNonNull(context, "context")))
                .text();
    }

    /**
     * Returns what shared memory a group takes whose ranks are all on one host, for whoever judges a machine before a job.
     *
     * @param ranks how many, from 2
     * @return size of the segment of each rank, the part that it takes later included; empty if so many cannot share memory
     */
    public static Optional<SegmentSize> sharedMemoryOf(int ranks) {
        return LocalPeers.segmentOf(ranks);
    }

    /**
     * Puts the engine on a transport of a simulator that runs all ranks on one thread: nothing waits, no thread is started,
     * and a call that would block throws an IllegalStateException that says so.
     *
     * @param transport medium, closed with the back end
     * @param group     the group
     * @param context   settings, virtual clock, virtual timers
     * @return back end, and the way to make progress on it
     */
    public static Stepped stepped(Transport transport, GroupSpec group, RankContext context) {
        return stepped(transport, group, context, FailurePolicy.SHIPPED);
    }

    /**
     * As {@link #stepped(Transport, GroupSpec, RankContext)}, with other decisions of the control plane, for tests that
     * inject a fault and check whether it is found.
     *
     * @param transport medium, closed with the back end
     * @param group     the group
     * @param context   settings, virtual clock, virtual timers
     * @param rules     decisions when something goes wrong, also in the groups made of this one
     * @return back end, and the way to make progress on it
     */
    @SuppressWarnings("exports")
    public static Stepped stepped(Transport transport, GroupSpec group, RankContext context, FailurePolicy rules) {
        check(transport, group, context);
        Objects.requireNonNull(rules, "rules");
        GroupIdentity place = GroupIdentity.watched(
                transport,
                group,
                context,
                new GroupIdentity.EngineOptions(true, LinkExecutor.RUNS_MOST, rules, TunedRows.parse(tuned(context))));
        return new Stepped(new GroupEngine(transport, group, context, place));
    }

    /**
     * Puts the engine on a plain back end: every collective from its five methods.
     *
     * @param plain   back end, closed with the one returned
     * @param context settings, clock, timers
     * @return back end with every collective; subgroups and abort across ranks are refused, and point-to-point calls that
     *     return a handle have ended when they return
     */
    public static CollectiveBackend over(Backend plain, RankContext context) {
        Objects.requireNonNull(plain, "plain");
        Objects.requireNonNull(context, "context");
        return PlainEngine.over(plain, context);
    }

    /**
     * Returns whether a back end is an engine: it refuses calls on device tensors itself, in the words of
     * {@link ferro.dispatch.FallbackGate#refusal}.
     *
     * @param backend back end
     * @return false also for a wrapper around an engine
     */
    public static boolean isOne(CollectiveBackend backend) {
        return Objects.requireNonNull(backend, "backend") instanceof GroupEngine || backend instanceof PlainEngine;
    }

    /** An engine on which the caller makes progress, one iteration at a time. */
    public static final class Stepped {
        private final GroupEngine engine;

        private Stepped(GroupEngine engine) {
            this.engine = engine;
        }

        /**
         * Returns the back end.
         *
         * @return back end whose calls queue and never wait
         */
        public CollectiveBackend backend() {
            return engine;
        }

        /**
         * Makes a group of some ranks without waiting: begins now, goes on by control messages and timers of the context.
         *
         * @param ranks   ranks of this group, in the order of the new one, this one among them
         * @param name    for messages
         * @param timeout until all have called
         * @return this rank's engine, on which the caller must make progress too; or a FerroException, as of
         *     {@code newGroup}; completed on the background of the context
         */
        public CompletionStage<Stepped> newGroup(int[] ranks, String name, Duration timeout) {
            return engine.form(ranks, name, timeout).thenApply(Stepped::new);
        }

        /**
         * Does one iteration: checks deadlines, and does what can be done now.
         *
         * @return whether anything moved
         */
        public boolean advance() {
            return engine.step();
        }
    }
}
