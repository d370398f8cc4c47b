package ferro.launcher;

import ferro.launcher.JobSecrets.NamedSecret;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.Placement;
import ferro.launcher.program.RecordingsFolder;
import ferro.spi.Settings;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * The environment variables of each rank.
 *
 * @param spec       the job
 * @param store      the store through which ranks find each other
 * @param key        name and secret of the job for the ranks of this generation
 * @param recordings folder to which the flight recorders write
 * @param generation number of the start of all ranks, from 0
 */
record RankEnvironment(JobSpec spec, RankStore store, NamedSecret key, RecordingsFolder recordings, int generation) {
    /** Variables that would override variables of this launcher. An outer launcher may have set such variables. */
    private static final List<String> FOREIGN = List.of(
            "TORCHELASTIC_USE_AGENT_STORE",
            "FERRO_MASTER_PORT",
            "FERRO_RANK",
            "FERRO_WORLD_SIZE",
            "FERRO_RENDEZVOUS",
            "FERRO_CHECKPOINT_REPORT");

    /**
     * Returns the name of the job. On one host the name is new. Launchers of several hosts cannot agree on a new name,
     * so they take the name from the environment.
     */
    static String jobId(Placement placement, Map<String, String> environment, RandomGenerator random) {
        if (placement.nodes() > 1) {
            return environment.getOrDefault("FERRO_JOB_ID", "default");
        }
        byte[] bytes = new byte[8];
        random.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /** Returns the environment of the rank with the given number on this host. */
    Map<String, String> of(int localRank, Map<String, String> inherited) {
        Map<String, String> variables = new HashMap<>(inherited);
        FOREIGN.forEach(variables::remove);
        variables.put("RANK", "" + (spec.placement().firstRank() + localRank));
        variables.put("WORLD_SIZE", "" + spec.placement().worldSize());
        variables.put("LOCAL_RANK", "" + localRank);
        variables.put("LOCAL_WORLD_SIZE", "" + spec.placement().ranksHere());
        variables.put("FERRO_LOCAL_CORES", "" + Runtime.getRuntime().availableProcessors());
        variables.put("MASTER_ADDR", store.endpoint().host());
        variables.put("MASTER_PORT", "" + store.endpoint().port());
        variables.put("FERRO_JOB_ID", key.id());
        variables.put("FERRO_SECRET_FILE", key.secretFile().toString());
        variables.put("FERRO_GENERATION", "" + generation);
        variables.put("TORCHELASTIC_RESTART_COUNT", "" + generation);
        variables.put("FERRO_STORE_SERVED", "1");
        recordings.addTo(variables);
        spec.backend().ifPresent(name -> variables.put("FERRO_BACKEND", name));
        if (spec.debugged().areAny()) {
            variables.put(Settings.DEBUG.variable(), "true");
        }
        spec.links().ifPresent(kind -> variables.put("FERRO_LINKS", kind));
        return variables;
    }
}
