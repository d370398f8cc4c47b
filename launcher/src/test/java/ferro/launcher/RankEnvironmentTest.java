package ferro.launcher;

import static ferro.launcher.Said.assertStarts;
import static ferro.launcher.Said.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import ferro.launcher.input.BadInputException;
import ferro.launcher.input.DebuggedRanks;
import ferro.launcher.input.Endpoint;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.Placement;
import ferro.launcher.input.RestartLimit;
import ferro.launcher.program.LaunchTarget;
import ferro.launcher.program.RecordingsFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RankEnvironmentTest {
    private static final Duration GRACE = Duration.ofSeconds(3);
    private static final Path SECRET = Path.of("/tmp/secret");
    private static final RecordingsFolder RECORDINGS = new RecordingsFolder(Path.of("/tmp/recordings"), true, Map.of());
    private static final Optional<Endpoint> MASTER = Optional.of(new Endpoint("node0", 29500));

    @Test
    void theSecondRankOfTheSecondHostGetsItsNumbers() {
        Map<String, String> seen = environment(spec(new Placement(2, 2, 1), Optional.of("tcp")))
                .of(1, Map.of("HOME", "/", "FERRO_LINKS", "shm"));

        assertEquals("3", seen.get("RANK"));
        assertEquals("4", seen.get("WORLD_SIZE"));
        assertEquals("1", seen.get("LOCAL_RANK"));
        assertEquals("2", seen.get("LOCAL_WORLD_SIZE"));
        assertEquals("" + Runtime.getRuntime().availableProcessors(), seen.get("FERRO_LOCAL_CORES"));
        assertEquals("node0", seen.get("MASTER_ADDR"));
        assertEquals("29500", seen.get("MASTER_PORT"));
        assertEquals("job-a", seen.get("FERRO_JOB_ID"));
        assertEquals("/tmp/secret", seen.get("FERRO_SECRET_FILE"));
        assertEquals("1", seen.get("FERRO_STORE_SERVED"));
        assertEquals("3", seen.get("FERRO_GENERATION"));
        assertEquals("3", seen.get("TORCHELASTIC_RESTART_COUNT"));
        assertEquals("tcp", seen.get("FERRO_BACKEND"));
        assertEquals("tcp", seen.get("FERRO_LINKS"));
        assertEquals("/", seen.get("HOME"));
        assertEquals("/tmp/recordings", seen.get("FERRO_RECORDER_DIR"));
    }

    @Test
    void aRecordingFolderOfTheUserIsNotOverridden() throws IOException {
        LaunchTarget target = (folder, few) -> List.of("true");

        RecordingsFolder named = RecordingsFolder.of(target, Map.of("FERRO_RECORDER_DIR", "/tmp/mine"));

        Map<String, String> variables = new HashMap<>();
        named.addTo(variables);
        assertEquals(Path.of("/tmp/mine"), named.folder());
        assertEquals(Map.of(), variables);
    }

    @Test
    void variablesOfAnOuterLauncherDoNotReachTheRanks() {
        Map<String, String> outer = Map.of("FERRO_RANK", "9", "TORCHELASTIC_USE_AGENT_STORE", "True", "RANK", "9");

        Map<String, String> seen =
                environment(spec(new Placement(1, 1, 0), Optional.empty())).of(0, outer);

        assertEquals("0", seen.get("RANK"));
        assertFalse(seen.containsKey("FERRO_RANK"), seen.toString());
        assertFalse(seen.containsKey("TORCHELASTIC_USE_AGENT_STORE"), seen.toString());
        assertFalse(seen.containsKey("FERRO_BACKEND"), seen.toString());
    }

    @Test
    void aJobIdIsRandomOnOneHostAndGivenOnSeveral() {
        Placement here = new Placement(2, 1, 0);
        Placement several = new Placement(2, 2, 0);
        SecureRandom random = new SecureRandom();

        assertNotEquals(
                RankEnvironment.jobId(here, Map.of("FERRO_JOB_ID", "mine"), random),
                RankEnvironment.jobId(here, Map.of("FERRO_JOB_ID", "mine"), random));
        assertEquals("mine", RankEnvironment.jobId(several, Map.of("FERRO_JOB_ID", "mine"), random));
        assertEquals("default", RankEnvironment.jobId(several, Map.of(), random));
    }

    @Test
    void severalHostsNeedAMasterAndASecretFile() {
        String noMaster = message(BadInputException.class, () -> needed(null, SECRET));
        String noSecret = message(BadInputException.class, () -> needed(MASTER.get(), null));

        assertStarts(noMaster, "--nodes 2 needs --master host:port");
        assertStarts(noSecret, "--nodes 2 needs --secret-file");
    }

    private static JobSpec needed(Endpoint master, Path secret) {
        return JobSpec.of(new Placement(2, 2, 0), Optional.ofNullable(master), Optional.ofNullable(secret));
    }

    /** Also where the debugged rank runs on another host. */
    @Test
    void allRanksOfADebuggedJobHaveNoTimeouts() {
        JobSpec debugged = spec(new Placement(2, 2, 1), Optional.empty()).debugging(new DebuggedRanks(Set.of(0, 3)));
        for (int local = 0; local < 2; local++) {
            assertEquals("true", environment(debugged).of(local, Map.of()).get("FERRO_DEBUG"));
        }
        assertFalse(environment(spec(new Placement(2, 2, 1), Optional.empty()))
                .of(0, Map.of())
                .containsKey("FERRO_DEBUG"));
        assertEquals(List.of("java", "Main"), debugged.debugged().commandLine(2, List.of("java", "Main")));
        List<String> waiting = debugged.debugged().commandLine(3, List.of("java", "Main"));
        assertEquals("-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=127.0.0.1:0", waiting.get(1));
        assertEquals(List.of("java", "Main"), List.of(waiting.get(0), waiting.get(2)));
    }

    private static JobSpec spec(Placement placement, Optional<String> backend) {
        return new JobSpec(
                placement,
                MASTER,
                Optional.of(SECRET),
                backend,
                Optional.of("tcp"),
                Optional.empty(),
                true,
                GRACE,
                JobSpec.NODE_TIMEOUT,
                DebuggedRanks.NONE,
                RestartLimit.NONE);
    }

    private static RankEnvironment environment(JobSpec spec) {
        JobSecrets.NamedSecret key = new JobSecrets.NamedSecret("job-a", SECRET);
        return new RankEnvironment(spec, new RankStore(MASTER.get()), key, RECORDINGS, 3);
    }
}
