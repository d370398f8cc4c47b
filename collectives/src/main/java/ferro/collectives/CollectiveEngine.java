package ferro.collectives;

import ferro.Backend;
import ferro.CollectiveBackend;
import ferro.collectives.control.Rules;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** Makes a whole back end of a medium. */
public final class CollectiveEngine {
    private CollectiveEngine() {}

    /**
     * Puts the engine on a transport.
     *
     * @param transport medium, closed with the back end
     * @param group     who
     * @param context   settings, clock, timers
     * @return back end with every collective
     */
    public static CollectiveBackend over(Transport transport, GroupSpec group, RankContext context) {
        Place place = Place.watched(transport, group, context, new Place.Manner(false, Rules.SHIPPED));
        return new GroupEngine(transport, group, context, place).warm().meet();
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
        Place place = Place.watched(transport, group, context, new Place.Manner(true, rules));
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
        return PlainEngine.over(plain, context);
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
