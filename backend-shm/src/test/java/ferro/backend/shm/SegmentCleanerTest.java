package ferro.backend.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SegmentCleanerTest {
    private final ProcessIdentity own;

    @TempDir
    private Path folder;

    SegmentCleanerTest() throws IOException {
        own = ProcessIdentity.in(LinuxFiles.HOST);
    }

    @Test
    @DisplayName("row 35: what a dead process left goes, and what a living one has stays")
    void filesOfDeadProcessesAreRemovedAndOfLivingOnesKept() throws IOException {
        Path living = file(own.namespace(), own.pid(), own.startTicks());
        file(own.namespace(), own.pid(), own.startTicks() + 1);
        file(own.namespace(), 999_999_999, 5);

        assertEquals(2, SegmentCleaner.sweep(folder, own));

        assertStays(living);
    }

    @Test
    void filesOfAnUnreadableProcessAreKept() throws IOException {
        Path proc = folder.resolve("proc");
        // reading it fails, as it does where this process has no descriptor left
        Files.createDirectories(proc.resolve("4711/stat"));
        ProcessIdentity blind = new ProcessIdentity(
                LinuxFiles.under(folder), own.boot(), own.namespace(), own.pid(), own.startTicks(), own.user());
        Path unreadable = file(own.namespace(), 4711, 5);

        assertEquals(0, SegmentCleaner.sweep(folder, blind));

        assertStays(proc, unreadable);
    }

    @Test
    void filesWithOtherNamesAreKept() throws IOException {
        Path foreign = Files.createFile(folder.resolve("ferro-17"));
        Path other = Files.createFile(folder.resolve("sem.4711"));
        Path folderOfThatName = Files.createDirectory(folder.resolve(dead()));
        Path link = Files.createSymbolicLink(folder.resolve(dead()), other);

        assertEquals(0, SegmentCleaner.sweep(folder, own));

        assertStays(foreign, other, folderOfThatName, link);
    }

    @Test
    void filesOfAnotherUserAreKept() throws IOException {
        Path file = Files.createFile(folder.resolve(dead()));
        Assumptions.assumeTrue(own.user() == 0, "only root can give files away");
        Files.setAttribute(file, "unix:uid", 4711);

        assertEquals(0, SegmentCleaner.sweep(folder, own));

        assertStays(file);
    }

    @Test
    @DisplayName("row 35: what processes that cannot be seen have made goes after a day")
    void filesOfInvisibleProcessesAreRemovedAfterADay() throws IOException {
        Path young = file(own.namespace() + 1, 999_999_999, 5);
        Path old = file(own.namespace() + 1, 999_999_999, 5);
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofHours(25))));

        assertEquals(1, SegmentCleaner.sweep(folder, own));

        assertStays(young);
    }

    private String dead() {
        return new SegmentName(own.namespace(), 999_999_999, 5, UUID.randomUUID()).toString();
    }

    private Path file(long namespace, long pid, long startTicks) throws IOException {
        SegmentName name = new SegmentName(namespace, pid, startTicks, UUID.randomUUID());
        return Files.createFile(folder.resolve(name.toString()));
    }

    private void assertStays(Path... files) {
        List<String> names = Stream.of(files)
                .map(file -> file.getFileName().toString())
                .sorted()
                .toList();
        assertEquals(names, SegmentFolders.files(folder));
    }
}
