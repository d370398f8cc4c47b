package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocalStorageTest {
    @TempDir
    private Path folder;

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void keepsObjectsAsFiles() throws IOException {
        LocalStorage storage = LocalStorage.at(folder.resolve("new/one"));
        storage.write("step-1/a.bin", to -> to.write(bytes("first, longer")));
        storage.write("step-1/a.bin", to -> to.write(bytes("second")));
        storage.write("step-10/b", to -> to.write(bytes("b")));
        storage.publish("latest.json", "old".getBytes(StandardCharsets.UTF_8));
        storage.publish("latest.json", "new".getBytes(StandardCharsets.UTF_8));
        Path root = folder.resolve("new/one");
        assertEquals(root.toString(), storage.toString());
        assertEquals("second", Files.readString(root.resolve("step-1/a.bin")));
        assertEquals("new", Files.readString(root.resolve("latest.json")));
        assertEquals(List.of(new StoredObject("step-1/a.bin", 6)), storage.list("step-1/"));
        assertEquals(3, storage.list("").size());
        assertEquals(List.of(), storage.list("step-2/"));
        assertFalse(Files.exists(root.resolve("latest.json.tmp")));
    }

    @Test
    void readsFromAnyOffsetToTheEnd() throws IOException {
        LocalStorage storage = LocalStorage.at(folder);
        storage.write("a", to -> to.write(bytes("0123456789")));
        ByteBuffer into = ByteBuffer.allocate(6);
        assertEquals(6, storage.read("a", 1, into));
        assertEquals("123456", new String(into.array(), StandardCharsets.UTF_8));
        assertEquals(3, storage.read("a", 7, into.clear()));
        assertEquals(0, storage.read("a", 10, into.clear()));
        assertEquals(0, storage.read("a", 99, into.clear()));
        assertThrows(NoSuchFileException.class, () -> storage.read("b", 0, into));
    }

    @Test
    void deletesAFolderWithItsLastFile() throws IOException {
        LocalStorage storage = LocalStorage.at(folder);
        storage.write("step-1/a", to -> {});
        storage.write("step-1/b", to -> {});
        storage.delete("step-1/a");
        storage.delete("step-1/none");
        assertTrue(Files.exists(folder.resolve("step-1/b")));
        storage.delete("step-1/b");
        assertFalse(Files.exists(folder.resolve("step-1")));
        assertTrue(Files.exists(folder));
    }

    @Test
    void listsNoFilesOfOtherPrograms() throws IOException {
        LocalStorage storage = LocalStorage.at(folder);
        storage.write("step-1/a", to -> {});
        Files.writeString(folder.resolve("step-1/.nfs0001"), "deleted, but open on another host");
        Files.writeString(folder.resolve("step-1/notes of mine.txt"), "text");
        Files.writeString(folder.resolve(".DS_Store"), "text");
        assertEquals(List.of(new StoredObject("step-1/a", 0)), storage.list(""));
    }

    @Test
    void leavesNoFileOfItsFirstCheck() throws IOException {
        LocalStorage.at(folder);
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(), left.toList());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"../a", "/a", "step-1/../../a", "", "a//b", "a/b/c", "a\\b", ".a", "step-1/.a", "a\0b"})
    void refusesNamesOutsideTheFolder(String name) {
        LocalStorage storage = LocalStorage.at(folder);
        ByteBuffer into = ByteBuffer.allocate(1);
        assertThrows(IllegalArgumentException.class, () -> storage.write(name, to -> {}));
        assertThrows(IllegalArgumentException.class, () -> storage.read(name, 0, into));
        assertThrows(IllegalArgumentException.class, () -> storage.publish(name, new byte[0]));
        assertThrows(IllegalArgumentException.class, () -> storage.delete(name));
    }

    @ParameterizedTest
    @ValueSource(strings = {"fuse.s3fs", "fuse.gcsfuse", "vfat", "exFAT"})
    void aFileSystemThatDoesNotRenameAtomicallyIsRefusedByName(String type) {
        CheckpointException refused =
                assertThrows(CheckpointException.class, () -> FileSystemCheck.refuseWithoutAtomicRename(folder, type));
        assertTrue(
                refused.getMessage()
                        .startsWith("cannot store checkpoints in " + folder + ": file system " + type
                                + " does not rename atomically ("),
                refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"ext4", "xfs", "nfs", "nfs4", "overlay", "tmpfs", "apfs", "NTFS"})
    void otherFileSystemsAreAccepted(String type) {
        FileSystemCheck.refuseWithoutAtomicRename(folder, type);
    }

    /** The file system of the JDK's own classes is read-only for every user. */
    @Test
    void aReadOnlyFileSystemCanBeRead() throws IOException {
        LocalStorage storage = LocalStorage.at(Path.of(URI.create("jrt:/java.base/java/lang")));
        assertEquals("Object.class", storage.list("Object.class").get(0).name());
        assertThrows(Exception.class, () -> storage.write("step-1/a", to -> {}));
    }

    /** A file in /proc cannot be made, though root may write there by its mode, as on a full disk. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void aFolderThatCannotBeWrittenCanBeRead() throws IOException {
        LocalStorage storage = LocalStorage.at(Path.of("/proc"));
        assertTrue(storage.read("version", 0, ByteBuffer.allocate(5)) > 0, "bytes of /proc/version");
        assertThrows(CheckpointStorage.NotPublishedException.class, () -> storage.publish("latest.json", new byte[1]));
    }

    @Test
    void aFolderThatCannotBeCreatedIsNamed() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "text");
        CheckpointException refused = assertThrows(CheckpointException.class, () -> LocalStorage.at(file));
        assertTrue(refused.getMessage().startsWith("cannot store checkpoints in " + file + ": "), refused.getMessage());
    }
}
