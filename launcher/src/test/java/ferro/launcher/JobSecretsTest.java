package ferro.launcher;

import static ferro.launcher.Said.assertStarts;
import static ferro.launcher.Said.message;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.net.SecretFile;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.Endpoint;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.Placement;
import ferro.launcher.input.RestartLimit;
import ferro.launcher.program.ProgramFinder;
import ferro.launcher.rank.ChildProcessGuard;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobSecretsTest {
    private static final RestartLimit SOME = new RestartLimit(3, Optional.empty());
    private static final ChildProcessGuard GUARD = ChildProcessGuard.find(ProgramFinder.of(Map.of()));

    @TempDir
    private Path temporary;

    @AutoClose
    private JobFolder folder;

    @BeforeEach
    void make() throws Exception {
        folder = JobFolder.create(GUARD, Optional.empty(), Map.of());
    }

    @Test
    void eachGenerationHasItsOwnNameAndSecretOnAllLaunchers() throws Exception {
        JobSpec two = several(SOME);
        Map<String, String> named = Map.of("FERRO_JOB_ID", "mine");
        try (JobFolder there = JobFolder.create(GUARD, Optional.empty(), Map.of())) {
            JobSecrets zero = JobSecrets.of(two, named, folder);
            JobSecrets one = JobSecrets.of(two, named, there);

            JobSecrets.NamedSecret first = zero.ofRanks(0);
            JobSecrets.NamedSecret second = zero.ofRanks(1);
            assertEquals(
                    List.of("mine", "mine.0", "mine.1"), List.of(zero.ofJob().id(), first.id(), second.id()));
            assertArrayEquals(
                    SecretFile.read(second.secretFile()),
                    SecretFile.read(one.ofRanks(1).secretFile()));
            assertFalse(Arrays.equals(SecretFile.read(first.secretFile()), SecretFile.read(second.secretFile())));
            assertNotEquals(two.secretFile().get(), first.secretFile());
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(first.secretFile())));
            folder.removeSecret(two.secretFile().get());
            assertTrue(Files.exists(two.secretFile().get()), "the user's file stays");
        }
    }

    /** HMAC with SHA-256 of another implementation: {@code printf 'generation\nmine\n7' | openssl dgst -sha256 -hmac key}. */
    @Test
    void theSecretOfAGenerationMatchesAnIndependentImplementation() {
        byte[] derived = JobSecrets.derived("key".getBytes(StandardCharsets.US_ASCII), "mine", 7);

        assertEquals(
                "084fff296c23f49b5e2c172965aa56309c497e466ec3836943c6632894e85c42",
                HexFormat.of().formatHex(derived));
    }

    @Test
    void aJobWithoutRestartsKeepsItsNameAndSecretFile() throws Exception {
        JobSpec two = several(RestartLimit.NONE);
        JobSecrets keys = JobSecrets.of(two, Map.of(), folder);

        assertEquals(new JobSecrets.NamedSecret("default", two.secretFile().get()), keys.ofRanks(0));
    }

    @Test
    void theSecretOfAJobOnOneHostIsNotWrittenToAFile() throws Exception {
        JobSpec here = JobSpec.onThisHost(2).restarting(SOME);
        JobSecrets keys = JobSecrets.of(here, Map.of(), folder);

        assertFalse(Files.exists(keys.ofJob().secretFile()));
        assertTrue(Files.exists(keys.ofRanks(0).secretFile()));
    }

    @Test
    void theGenerationOfARefusedProcessIsReadFromItsJobName() throws Exception {
        JobSecrets keys = JobSecrets.of(several(SOME), Map.of("FERRO_JOB_ID", "mine"), folder);

        assertEquals(OptionalInt.of(12), keys.generation("mine.12"));
        for (String other : List.of("mine", "mine.", "mine.x", "mine.12345678901", "yours.1", "mine.1.2")) {
            assertEquals(OptionalInt.empty(), keys.generation(other), other);
        }
    }

    @Test
    void aJobNameTooLongForTheGenerationIsRefused() throws Exception {
        String most = "x".repeat(64);
        JobSpec some = several(SOME);
        String refused =
                message(BadInputException.class, () -> JobSecrets.of(some, Map.of("FERRO_JOB_ID", most), folder));

        assertStarts(refused, "FERRO_JOB_ID " + most + " is too long for --restarts");
        JobSecrets keys = JobSecrets.of(several(RestartLimit.NONE), Map.of("FERRO_JOB_ID", most), folder);
        assertEquals(most, keys.ofRanks(0).id());
    }

    private JobSpec several(RestartLimit restarts) throws Exception {
        Path secret = temporary.resolve("secret");
        if (Files.notExists(secret)) {
            SecretFile.create(secret);
        }
        Endpoint master = new Endpoint("127.0.0.1", 29500);
        return JobSpec.of(new Placement(2, 2, 0), Optional.of(master), Optional.of(secret))
                .restarting(restarts);
    }
}
