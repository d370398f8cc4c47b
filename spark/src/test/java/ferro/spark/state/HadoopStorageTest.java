package ferro.spark.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.training.checkpoint.StoredObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HadoopStorageTest {
    @TempDir
    private Path folder;

    private HadoopStorage storage;

    @BeforeEach
    void open() throws IOException {
        storage = HadoopStorage.at(folder.toUri().toString(), new Configuration());
    }

    private void write(String name, String text) throws IOException {
        storage.write(name, to -> to.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII))));
    }

    private String read(String name, long offset, int max) throws IOException {
        ByteBuffer into = ByteBuffer.allocate(max);
        int read = storage.read(name, offset, into);
        assertEquals(read, into.position());
        return new String(into.array(), 0, read, StandardCharsets.US_ASCII);
    }

    @Test
    void rangesAreReadAsTheyWereWritten() throws IOException {
        write("step-1/rank-0", "0123456789");

        assertEquals("345", read("step-1/rank-0", 3, 3));
        assertEquals("89", read("step-1/rank-0", 8, 5));
        assertEquals("", read("step-1/rank-0", 10, 5));
        assertEquals("", read("step-1/rank-0", 99, 5));
    }

    @Test
    void aPublishedNameHasTheNewContent() throws IOException {
        storage.publish("latest.txt", "first one".getBytes(StandardCharsets.US_ASCII));
        storage.publish("latest.txt", "second".getBytes(StandardCharsets.US_ASCII));

        assertEquals("second", read("latest.txt", 0, 100));
        assertEquals(List.of(new StoredObject("latest.txt", 6)), storage.list(""));
    }

    @Test
    void objectsAreListedByPrefix() throws IOException {
        write("step-1/rank-0", "a");
        write("step-1/rank-1", "bb");
        write("step-2/rank-0", "c");

        assertEquals(List.of(new StoredObject("step-1/rank-1", 2)), storage.list("step-1/rank-1"));
        assertEquals(3, storage.list("").size());
        assertEquals(List.of(), storage.list("step-9/"));
    }

    /** Until a file of HDFS is forced to disk, it is lost if the machines that hold it fail. */
    @Test
    void writtenAndPublishedObjectsAreForced() throws IOException {
        Configuration counting = new Configuration();
        counting.set("fs.AbstractFileSystem.file.impl", CountingFiles.class.getName());
        storage = HadoopStorage.at(folder.toUri().toString(), counting);
        CountingFiles.FORCED.clear();

        write("step-1/rank-0", "a");
        storage.publish("latest.txt", "b".getBytes(StandardCharsets.US_ASCII));

        assertEquals(
                List.of("rank-0 of 1 bytes", "latest.txt.tmp of 1 bytes"),
                CountingFiles.FORCED.stream()
                        .map(line -> line.replaceAll("[.][0-9a-f]{8}[.]tmp", ".tmp"))
                        .toList());
    }

    @Test
    void aMissingObjectIsNamedAndMayBeDeletedAgain() throws IOException {
        write("step-1/rank-0", "a");
        storage.delete("step-1/rank-0");
        storage.delete("step-1/rank-0");

        NoSuchFileException missing = assertThrows(NoSuchFileException.class, () -> read("step-1/rank-0", 0, 1));
        assertTrue(missing.getMessage().endsWith("step-1/rank-0"), missing.getMessage());
    }

    @Test
    void aFolderIsDeletedWithItsLastObject() throws IOException {
        write("step-1/rank-0", "a");
        write("step-1/rank-1", "b");

        storage.delete("step-1/rank-0");
        assertTrue(Files.isDirectory(folder.resolve("step-1")));
        storage.delete("step-1/rank-1");

        assertFalse(Files.exists(folder.resolve("step-1")));
    }
}
