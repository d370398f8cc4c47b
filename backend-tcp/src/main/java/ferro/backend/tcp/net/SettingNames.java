package ferro.backend.tcp.net;

import ferro.spi.RankContext;
import ferro.spi.Settings;

/**
 * The settings that a message names if ranks do not find each other. A setting is an environment variable or a part of
 * {@code JoinOptions}.
 *
 * @param ofHost  settings that name the host of the store
 * @param ofStore settings of the store that must be the same on all ranks, followed by the verb of the message's clause
 * @param ofRanks settings that must not contradict each other on different ranks
 */
public record SettingNames(String ofHost, String ofStore, String ofRanks) {
    private static final SettingNames VARIABLES = new SettingNames(
            "MASTER_ADDR or ferro.rendezvous",
            "MASTER_ADDR and MASTER_PORT are the same",
            "MASTER_ADDR, WORLD_SIZE, RANK and FERRO_JOB_ID");
    private static final SettingNames OPTIONS = new SettingNames(
            "ferro.rendezvous, or the host of JoinOptions.storeAt or serveStore",
            "ferro.rendezvous, or the address of JoinOptions.storeAt, is the same",
            "ferro.rendezvous or JoinOptions: store, number of ranks, rank and job");

    /** Returns the settings by which a rank finds its store. */
    public static SettingNames of(RankContext context) {
        return Settings.RENDEZVOUS.of(context).startsWith("env:") ? VARIABLES : OPTIONS;
    }
}
