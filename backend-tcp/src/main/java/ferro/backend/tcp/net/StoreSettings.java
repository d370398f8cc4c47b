package ferro.backend.tcp.net;

import ferro.spi.RankContext;
import ferro.spi.Settings;

/**
 * What to look at if ranks do not meet, for messages: variables, or the address that options name.
 *
 * @param ofHost  what names the host of the store
 * @param ofStore what must be the same everywhere, with its verb
 * @param ofRanks what must fit on all ranks
 */
public record StoreSettings(String ofHost, String ofStore, String ofRanks) {
    private static final StoreSettings VARIABLES = new StoreSettings(
            "MASTER_ADDR or ferro.rendezvous",
            "MASTER_ADDR and MASTER_PORT are the same",
            "MASTER_ADDR, WORLD_SIZE, RANK and FERRO_JOB_ID");
    private static final StoreSettings OPTIONS = new StoreSettings(
            "ferro.rendezvous, or the host of JoinOptions.storeAt or serveStore",
            "ferro.rendezvous, or the address of JoinOptions.storeAt, is the same",
            "ferro.rendezvous or JoinOptions: store, number of ranks, rank and job");

    /** Returns what names the store of a rank. */
    public static StoreSettings of(RankContext context) {
        return Settings.RENDEZVOUS.of(context).startsWith("env:") ? VARIABLES : OPTIONS;
    }
}
