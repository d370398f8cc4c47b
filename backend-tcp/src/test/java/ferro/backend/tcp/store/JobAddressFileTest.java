package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.net.ProcessUser;
import ferro.backend.tcp.net.Secret;
import ferro.backend.tcp.store.JobAddressFile.JobFileContent;
import ferro.group.SystemContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a job file holds, and which ones are not believed. */
class JobAddressFileTest {
    private static final Where WHERE = Where.of("g", 1);
    private static final String CANARY = "63616e617279";

    @TempDir
    private Path folder;

    private JobAddressFile file;

    @BeforeEach
    void name() {
        file = new JobAddressFile(folder, "key");
    }

    private static JobFileContent entry(int port) {
        return new JobFileContent("fd00::7", port, Optional.of(Secret.of("canary".getBytes())));
    }

    private FerroException refused() {
        return assertThrows(FerroException.class, () -> file.read(WHERE));
    }

    private static void assertSays(FerroException failure, Code code, String... parts) {
        assertEquals(code, failure.code(), failure.getMessage());
        for (String part : parts) {
            assertTrue(failure.getMessage().contains(part), failure.getMessage());
        }
        assertFalse(failure.toString().contains(CANARY), failure.toString());
    }

    @Test
    void aJobFileIsReadAsWrittenAndOnlyByItsUser() throws IOException {
        assertEquals(Optional.empty(), file.read(WHERE));

        file.write(entry(29500), WHERE);

        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file.path())));
        assertEquals(Optional.of(entry(29500)), file.read(WHERE));
        JobFileContent plain = new JobFileContent("10.0.0.7", 3, Optional.empty());
        file.write(plain, WHERE);
        assertEquals(Optional.of(plain), file.read(WHERE));
        try (Stream<Path> all = Files.list(folder)) {
            assertEquals(List.of(file.path()), all.toList());
        }
        assertFalse(entry(1).toString().contains(CANARY));
    }

    @Test
    void aJobFileOfAnotherStartIsNotRemoved() throws IOException {
        file.write(entry(7), WHERE);

        file.remove(entry(8));
        assertTrue(Files.exists(file.path()));
        file.remove(entry(7));

        assertFalse(Files.exists(file.path()));
        file.remove(entry(7));
    }

    @Test
    void jobFilesOlderThanADayAreRemovedAndNothingElse() throws IOException {
        JobAddressFile old = new JobAddressFile(folder, "old");
        old.write(entry(7), WHERE);
        JobAddressFile open = new JobAddressFile(folder, "open");
        open.write(entry(8), WHERE);
        Files.setPosixFilePermissions(open.path(), PosixFilePermissions.fromString("rw-r--r--"));
        Path notes = Files.writeString(folder.resolve("notes"), "ferro job file, version 1\nbut not whole");
        Files.setPosixFilePermissions(notes, PosixFilePermissions.fromString("rw-------"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), old.path());
        Files.createDirectory(folder.resolve("folder"));
        file.write(entry(9), WHERE);
        long now = System.currentTimeMillis();

        assertEquals(0, JobFileCleaner.sweep(folder, now, WHERE));
        assertTrue(Files.exists(old.path()));

        Files.setLastModifiedTime(file.path(), FileTime.fromMillis(now + 1000));
        assertEquals(1, JobFileCleaner.sweep(folder, now + Duration.ofDays(1).toMillis() + 500, WHERE));
        assertFalse(Files.exists(old.path()));
        assertEquals(Optional.of(entry(9)), file.read(WHERE));
        assertTrue(Files.exists(open.path()) && Files.exists(notes) && Files.exists(folder.resolve("folder")));
        assertTrue(Files.exists(link, LinkOption.NOFOLLOW_LINKS));
        assertEquals(0, JobFileCleaner.sweep(folder.resolve("none"), now, WHERE));
    }

    @Test
    void writingAJobFileRemovesOldOnes() throws IOException {
        JobAddressFile old = new JobAddressFile(folder, "old");
        old.write(entry(7), WHERE);
        long twoDaysAgo = System.currentTimeMillis() - Duration.ofDays(2).toMillis();
        Files.setLastModifiedTime(old.path(), FileTime.fromMillis(twoDaysAgo));

        WrittenJobFile.write(file, entry(9), SystemContext.of(Map.of()), WHERE);

        assertFalse(Files.exists(old.path()));
        assertEquals(Optional.of(entry(9)), file.read(WHERE));
    }

    @Test
    void aJobFileThatOthersCanAccessIsRefusedByName() throws IOException {
        file.write(entry(7), WHERE);
        Files.setPosixFilePermissions(file.path(), PosixFilePermissions.fromString("rw-r-----"));
        assertSays(
                refused(),
                Code.UNAUTHENTICATED,
                "the job file " + file.path() + " can be opened by others (mode 640)",
                "FERRO_JOB_DIR");

        Files.move(file.path(), folder.resolve("other"));
        Files.createSymbolicLink(file.path(), folder.resolve("other"));
        assertSays(refused(), Code.UNAUTHENTICATED, file.path().toString());
    }

    @Test
    void aJobFileOfAnotherUserIsRefusedByName() throws IOException {
        file.write(entry(7), WHERE);
        assumeTrue(Files.getAttribute(file.path(), "unix:uid").equals(0), "needs root");
        Files.setAttribute(file.path(), "unix:uid", 4711);

        assertSays(refused(), Code.UNAUTHENTICATED, "belongs to user 4711, and this process is user 0");
    }

    @Test
    void anInvalidJobFileIsRefusedWithoutShowingItsContent() throws IOException {
        for (String text : List.of(
                "",
                "canary\n",
                "ferro job file, version 2\nhost a\nport 1\nsecret " + CANARY + "\n",
                "ferro job file, version 1\nhost a\nport " + CANARY + "\nsecret -\n",
                "ferro job file, version 1\nhost a\nport 1\nsecret " + CANARY + "0\n",
                "ferro job file, version 1\nhost a\nport 1\nsecret " + CANARY + "xy\n")) {
            Files.writeString(file.path(), text);
            Files.setPosixFilePermissions(file.path(), PosixFilePermissions.fromString("rw-------"));
            assertSays(refused(), Code.PROTOCOL, "the job file " + file.path() + " is invalid");
        }
        Files.writeString(file.path(), "x".repeat(5000));
        assertSays(refused(), Code.UNAUTHENTICATED, "has more than 1024 bytes");
    }

    @Test
    void aJobFileThatCannotBeWrittenFailsWithTheRemedy() {
        JobAddressFile nowhere = new JobAddressFile(folder.resolve("none"), "key");

        FerroException failure = assertThrows(FerroException.class, () -> nowhere.write(entry(7), WHERE));

        assertSays(failure, Code.RENDEZVOUS, "cannot write the job file " + nowhere.path(), "FERRO_JOB_DIR");
    }

    @Test
    void aConfiguredJobFolderThatOthersCanWriteIsRefused() throws IOException {
        SystemContext context = SystemContext.of(Map.of("ferro.job.dir", folder.toString()));
        for (int mode : new int[] {0777, 0775, 02775, 0733}) {
            Files.setAttribute(folder, "unix:mode", mode);
            FerroException open = assertThrows(FerroException.class, () -> JobFolderFinder.of(context, false, WHERE));
            assertSays(
                    open,
                    Code.UNAUTHENTICATED,
                    "the folder " + folder + " can be written by others (mode " + Integer.toOctalString(mode) + ")",
                    "chmod +t " + folder + " if a group shares the folder",
                    "FERRO_JOB_DIR");
        }
        for (int mode : new int[] {01777, 03775, 0755, 0700}) {
            Files.setAttribute(folder, "unix:mode", mode);
            assertEquals(folder, JobFolderFinder.of(context, false, WHERE));
        }
    }

    @Test
    void ranksOfOneHostUseAFolderBelowTmpdir() throws IOException {
        assumeTrue(System.getProperty("java.io.tmpdir").equals("/tmp"), "this JVM was told a temporary folder");
        int uid = ProcessUser.ofProcess().uid();

        Path jobs = JobFolderFinder.of(SystemContext.of(Map.of("TMPDIR", folder.toString())), true, WHERE);

        assertEquals(folder.resolve("ferro-" + uid), jobs);
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(jobs)));
    }

    @Test
    void theJobFolderIsCreatedPrivateAndCheckedIfPresent() throws IOException {
        Path jobs = folder.resolve("jobs");

        assertEquals(jobs, JobFolderFinder.own(jobs, WHERE));

        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(jobs)));
        assertEquals(jobs, JobFolderFinder.own(jobs, WHERE));
        Files.setPosixFilePermissions(jobs, PosixFilePermissions.fromString("rwx--x---"));
        FerroException open = assertThrows(FerroException.class, () -> JobFolderFinder.own(jobs, WHERE));
        assertSays(open, Code.UNAUTHENTICATED, "the folder " + jobs + " can be opened by others (mode 710)");
        Path link = Files.createSymbolicLink(folder.resolve("link"), folder);
        FerroException linked = assertThrows(FerroException.class, () -> JobFolderFinder.own(link, WHERE));
        assertSays(linked, Code.UNAUTHENTICATED, "is not a folder, or is a link to a folder");
    }
}
