package ferro.backend.nccl.comm;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NcclUniqueIdTest {
    private static byte[] counting() {
        byte[] bytes = new byte[NcclUniqueId.BYTES];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i + 100);
        }
        return bytes;
    }

    @Test
    @DisplayName("1-21 3-04 test_nccl_unique_id_default: 128 bytes, zero before one is made")
    void theDefaultIsZero() {
        assertEquals(128, NcclUniqueId.BYTES);
        assertArrayEquals(new byte[128], NcclUniqueId.zero().toBytes());
    }

    @Test
    @DisplayName("1-23 3-04 test_nccl_unique_id_debug: printing never shows the bytes")
    void printingNeverShowsTheBytes() {
        String printed = NcclUniqueId.fromBytes(counting()).toString();
        assertEquals("NcclUniqueId[128 bytes]", printed);
        assertEquals(NcclUniqueId.zero().toString(), printed, "nothing of the content may shine through");
    }

    @Test
    @DisplayName("1-22 test_nccl_unique_id_clone: a copy is equal, other bytes are not, and threads may share one")
    void copiesAreEqualOnEveryThread() throws Exception {
        NcclUniqueId id = NcclUniqueId.fromBytes(counting());
        List<CompletableFuture<NcclUniqueId>> copies = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            copies.add(CompletableFuture.supplyAsync(() -> NcclUniqueId.fromBytes(id.toBytes())));
        }
        for (CompletableFuture<NcclUniqueId> copy : copies) {
            NcclUniqueId made = copy.get(10, TimeUnit.SECONDS);
            assertNotSame(id, made);
            assertEquals(id, made);
            assertEquals(id.hashCode(), made.hashCode());
        }
        byte[] changed = counting();
        changed[127]++;
        assertNotEquals(id, NcclUniqueId.fromBytes(changed));
    }

    @Test
    @DisplayName("1-22: neither the bytes given nor the bytes handed out reach into the id")
    void nobodyCanChangeItFromOutside() {
        byte[] given = counting();
        NcclUniqueId id = NcclUniqueId.fromBytes(given);
        given[0]++;
        id.toBytes()[1]++;
        assertArrayEquals(counting(), id.toBytes());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 127, 129, 256})
    @DisplayName("1-22: only 128 bytes are an id, and the message has both numbers but no byte")
    void anotherLengthIsRefused(int length) {
        IllegalArgumentException refused = assertRefused(
                IllegalArgumentException.class,
                () -> NcclUniqueId.fromBytes(new byte[length]),
                "128",
                "found " + length);
        assertFalse(refused.getMessage().contains("["), refused.getMessage());
    }
}
