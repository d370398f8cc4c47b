package ferro.collectives;

import ferro.Backend;
import ferro.CollectiveBackend;
import ferro.collectives.algorithm.AlgorithmChoice;
import ferro.collectives.algorithm.TunedRows;
import ferro.collectives.control.HeartbeatTimes;
import ferro.collectives.control.Rules;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import ferro.spi.Transport;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;

/** Makes a whole back end of a medium. */
public final class CollectiveEngine {
    private static final System.Logger LOG = System.getLogger("ferro.group");

    private CollectiveEngine() {}

    /**
     * Puts the engine on a transport.
     *
     * @param transport medium, closed with the back end
     * @param group     who
     * @param context   settings, clock, timers
     * @return back end with every collective
     * @throws IllegalArgumentException as {@link #check} and {@link #tuned}
     */
    public static CollectiveBackend over(Transport transport, GroupSpec group, RankContext context) {
        check(transport, group, context);
        return over(transport, group, context, tuned(context));
    }

    /**
     * As {@link #over(Transport, GroupSpec, RankContext)}, with the table of algorithms that rank 0 has told all: it is in
     * force here and in the groups made of this one, and a rank that was given another one says so.
     *
     * @param transport medium, closed with the back end
     * @param group     who
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
        Place place = Place.watched(
                transport, group, context, new Place.Manner(false, LinkExecutor.RUNS_MOST, Rules.SHIPPED, inForce));
        return new GroupEngine(transport, group, context, place).warm().meet();
    }

    /**
     * Refuses settings that no engine can go by. Where ranks wait for each other before there is an engine, the medium asks
     * first, so that the others need not wait for this one.
     *
     * @param context settings
     * @throws IllegalArgumentException if one makes no sense, naming it and what it may be
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
     * Puts the engine on a transport of a simulator that runs all ranks on one thread: nothing waits, no thread is made,
     * and a call that would block throws IllegalStateException saying so.
     *
     * @param transport medium, closed with the back end
     * @param group     who
     * @param context   settings, virtual clock, virtual timers
     * @return back end, and the way to drive it
     */
    public static Stepped stepped(Transport transport, GroupSpec group, RankContext context) {
        return stepped(transport, group, context, Rules.SHIPPED);
    }

    /**
     * As {@link #stepped(Transport, GroupSpec, RankContext)}, with other decisions of the control plane: for tests that plant
     * a fault and see whether it is found.
     *
     * @param transport medium, closed with the back end
     * @param group     who
     * @param context   settings, virtual clock, virtual timers
     * @param rules     what is decided when something goes wrong, also in the groups made of this one
     * @return back end, and the way to drive it
     */
    @SuppressWarnings("exports")
    public static Stepped stepped(Transport transport, GroupSpec group, RankContext context, Rules rules) {
        check(transport, group, context);
        Objects.requireNonNull(rules, "rules");
        Place place = Place.watched(
                transport,
                group,
                context,
                new Place.Manner(true, LinkExecutor.RUNS_MOST, rules, TunedRows.parse(tuned(context))));
        return new Stepped(new GroupEngine(transport, group, context, place));
    }

    /**
     * Puts the engine on a plain back end: every collective from its five methods.
     *
     * @param plain   back end, closed with the one returned
     * @param context settings, clock, timers
     * @return back end with every collective; subgroups, asynchronous point-to-point and abort across ranks are refused
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
     * @return false also for what somebody has put around an engine
     */
    public static boolean isOne(CollectiveBackend backend) {
        return Objects.requireNonNull(backend, "backend") instanceof GroupEngine || backend instanceof PlainEngine;
    }

    /** An engine that somebody else drives, one turn at a time. */
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
         * @return this rank's end, which somebody must drive too; or a FerroException, as of {@code newGroup}; completed on
         *     the background of the context
         */
        public CompletionStage<Stepped> newGroup(int[] ranks, String name, Duration timeout) {
            return engine.form(ranks, name, timeout).thenApply(Stepped::new);
        }

        /**
         * Takes one turn: looks at deadlines, does what can be done now.
         *
         * @return whether anything moved
         */
        public boolean advance() {
            return engine.step();
        }
    }
}
