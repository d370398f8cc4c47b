package ferro.launcher;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * The variables of each rank.
 *
 * @param spec       the job
 * @param store      where ranks meet
 * @param secretFile file with the secret
 * @param jobId      name of the job
 * @param recordings where flight recorders write
 */
record RankEnvironment(JobSpec spec, StoreHost store, Path secretFile, String jobId, Recordings recordings) {
    /** These would win over what we set: left behind by a launcher that runs us. */
    private static final List<String> FOREIGN = List.of(
            "TORCHELASTIC_USE_AGENT_STORE", "FERRO_MASTER_PORT", "FERRO_RANK", "FERRO_WORLD_SIZE", "FERRO_RENDEZVOUS");

    /** Returns a fresh name on one host; launchers of several hosts cannot agree on one, and take it from outside. */
    static String jobId(Placement placement, Map<String, String> environment, RandomGenerator random) {
        if (placement.nodes() > 1) {
            return environment.getOrDefault("FERRO_JOB_ID", "default");
        }
        byte[] bytes = new byte[8];
        random.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /** Returns what the rank with this number on this host sees. */
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
        variables.put("FERRO_JOB_ID", jobId);
        variables.put("FERRO_SECRET_FILE", secretFile.toString());
        variables.put("FERRO_STORE_SERVED", "1");
        recordings.addTo(variables);
        spec.backend().ifPresent(name -> variables.put("FERRO_BACKEND", name));
        spec.links().ifPresent(kind -> variables.put("FERRO_LINKS", kind));
        return variables;
    }
}
