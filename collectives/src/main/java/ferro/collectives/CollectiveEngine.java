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
        throw new UnsupportedOperationException("under construction: " + transport + group + context);
    }

    /**
     * Puts the engine on a plain back end: every collective from its five methods.
     *
     * @param plain back end, closed with the one returned
     * @return back end with every collective; subgroups, asynchronous point-to-point and abort across ranks are refused
     */
    public static CollectiveBackend over(Backend plain) {
        throw new UnsupportedOperationException("under construction: " + plain);
    }
}
