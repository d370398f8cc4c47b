package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.training.checkpoint.MessageExchange.ReportingStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each call of a storage is progress, and so is each block of a file that is written. */
class ReportingStorageTest {
    private final MemoryStorage memory = new MemoryStorage();
    private final ReportingStorage storage = new ReportingStorage(memory);
    private int noted;

    ReportingStorageTest() {
        storage.progress = () -> noted++;
    }

    @Test
    void everyStorageCallAndWrittenBlockIsProgress() throws IOException {
        storage.write("step-1/a", to -> {
            assertNoted(1);
            to.write(ByteBuffer.wrap(new byte[] {1}));
            assertNoted(2);
            to.write(ByteBuffer.wrap(new byte[] {2}));
            assertNoted(3);
        });
        assertEquals(2, storage.read("step-1/a", 0, ByteBuffer.allocate(3)));
        assertNoted(4);
        assertEquals(List.of(new StoredObject("step-1/a", 2)), storage.list("step-1"));
        assertNoted(5);
        storage.publish("latest.json", new byte[] {3});
        assertNoted(6);
        storage.delete("step-1/a");
        assertNoted(7);
        assertEquals(List.of("latest.json"), List.copyOf(memory.objects.keySet()));
        assertEquals("memory", storage.toString());
    }

    /** A publication that has succeeded must not look like one that has failed: its files would be deleted. */
    @Test
    void aFailureOfOtherRanksIsThrownBeforeACallButNotAfter() {
        storage.progress = () -> {
            throw new IllegalStateException("another rank has failed");
        };
        assertThrows(IllegalStateException.class, () -> storage.publish("latest.json", new byte[] {3}));
        assertEquals(List.of(), List.copyOf(memory.objects.keySet()));
    }

    private void assertNoted(int calls) {
        assertEquals(calls, noted);
    }
}
