package ferro.launcher;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertLacks;
import static ferro.launcher.Said.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.launcher.input.BadInputException;
import ferro.launcher.program.ProgramFinder;
import ferro.launcher.rank.ChildProcessGuard;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobFolderTest {
    private final ChildProcessGuard groupGuard = ChildProcessGuard.find(ProgramFinder.of(Map.of()));

    @TempDir
    private Path temporary;

    @Test
    void aSecretIsPrivateAndRemovedWithItsFolder() throws IOException {
        Path first;
        try (JobFolder folder = JobFolder.create(groupGuard, Optional.empty(), Map.of());
                JobFolder other = JobFolder.create(groupGuard, Optional.empty(), Map.of())) {
            first = folder.writeSecret();
            assertEquals("rw-------", permissions(first));
            assertEquals("rwx------", permissions(folder.path()));
            assertTrue(Files.readString(first).matches("[0-9a-f]{64}"));
            assertFalse(Files.readString(first).equals(Files.readString(other.writeSecret())));
            assertEquals(first, JobFolder.checkSecret(first));
        }

        assertFalse(Files.exists(first.getParent()));
    }

    @Test
    void aSecretCanBeRemovedBeforeTheFolder() throws IOException {
        try (JobFolder folder = JobFolder.create(groupGuard, Optional.empty(), Map.of())) {
            Path secret = folder.writeSecret();

            folder.removeSecret(secret);

            assertFalse(Files.exists(secret));
        }
    }

    @Test
    void theGuardRemovesOnlyAnEmptyFolderOfTheJob() throws Exception {
        assumeTrue(groupGuard.holds(), "no guard here");
        Path ours = Files.createDirectory(temporary.resolve("ours"));
        JobFolder folder = JobFolder.create(groupGuard, Optional.of(ours), Map.of());
        Process guard = folder.guard().orElseThrow();

        folder.close();

        assertTrue(guard.waitFor(60, TimeUnit.SECONDS));
        assertFalse(Files.exists(ours));
        assertTrue(Files.exists(temporary));
    }

    @Test
    void aSecretThatOthersCanReadIsRefusedWithoutShowingIt() throws IOException {
        Path file = Files.writeString(temporary.resolve("s"), "canary");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));

        String message = message(BadInputException.class, () -> JobFolder.checkSecret(file));

        assertHas(message, "rw-r-----, need rw-------");
        assertLacks(message, "canary");
    }

    @Test
    void missingAndEmptySecretsAreNamed() throws IOException {
        Path empty = Files.createFile(temporary.resolve("empty"));
        Files.setPosixFilePermissions(empty, PosixFilePermissions.fromString("rw-------"));

        assertTrue(message(BadInputException.class, () -> JobFolder.checkSecret(empty))
                .endsWith("has 0 bytes besides white space: need at least 1"));
        assertHas(
                message(BadInputException.class, () -> JobFolder.checkSecret(temporary.resolve("none"))),
                "no such file");
    }

    private static String permissions(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }
}
