package ferro.collectives;

import ferro.Backend;
import ferro.CollectiveBackend;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;

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
        return GroupEngine.joined(transport, group, context, false);
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
        GroupEngine engine = GroupEngine.joined(transport, group, context, true);
        return new Stepped(engine);
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
         * Takes one turn: looks at deadlines, does what can be done now.
         *
         * @return whether anything moved
         */
        public boolean advance() {
            return engine.step();
        }
    }
}
