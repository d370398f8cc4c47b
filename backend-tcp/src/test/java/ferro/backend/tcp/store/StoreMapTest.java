package ferro.backend.tcp.store;

import static ferro.backend.tcp.mesh.Ranks.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.store.StoreCodec.StoreOperation;
import ferro.backend.tcp.store.StoreCodec.StoreRequest;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What a store keeps and what its frames may hold, without sockets. */
class StoreMapTest {
    private final StoreMap map = new StoreMap();

    @Test
    void aWaiterIsCalledOnceAndAForgottenOneNever() throws Refusal {
        List<byte[]> received = new ArrayList<>();
        Consumer<byte[]> forgotten = value -> {
            throw new AssertionError("notified " + value.length + " bytes");
        };
        map.when("a", received::add);
        map.when("a", forgotten);
        map.forget("a", forgotten);

        map.set("a", new byte[] {3});
        map.set("a", new byte[] {4});

        assertEquals(1, received.size());
        assertArrayEquals(new byte[] {3}, received.get(0));
        assertEquals(0, map.waiters());
        map.when("a", received::add);
        assertArrayEquals(new byte[] {4}, received.get(1));
    }

    @Test
    void compareAndSetReturnsTheValueAfterwards() throws Refusal {
        assertNull(map.compareAndSet("k", new byte[] {9}, new byte[] {5}));
        assertArrayEquals(new byte[] {5}, map.compareAndSet("k", null, new byte[] {5}));
        assertArrayEquals(new byte[] {5}, map.compareAndSet("k", null, new byte[] {6}));
        assertArrayEquals(new byte[] {5}, map.compareAndSet("k", new byte[] {9}, new byte[] {6}));
        assertArrayEquals(new byte[] {6}, map.compareAndSet("k", new byte[] {5}, new byte[] {6}));
    }

    @Test
    void countersAddAndRefuseValuesThatAreNotNumbers() throws Refusal {
        assertEquals(5, map.add("n", 5));
        assertEquals(-2, map.add("n", -7));
        map.set("text", new byte[] {'x'});

        assertRefused(Refusal.class, () -> map.add("text", 3), "\"text\"");
        map.set("most", Long.toString(Long.MAX_VALUE).getBytes());
        assertThrows(Refusal.class, () -> map.add("most", 1));
    }

    @Test
    void theStoreHasATotalLimitAndDeletingFreesBytes() throws Refusal {
        byte[] big = new byte[StoreMap.MOST_VALUE_BYTES];
        for (int i = 0; i < 63; i++) {
            map.set("key" + i, big);
        }
        map.set("last", new byte[StoreMap.MOST_VALUE_BYTES - 2000]);

        Refusal refusal = assertThrows(Refusal.class, () -> map.set("more", new byte[4000]));

        assertEquals(Code.RESOURCE, refusal.code());
        assertTrue(map.bytes() <= StoreMap.MOST_BYTES);
        assertTrue(map.delete("key7"));
        map.set("more", new byte[4000]);
        map.delete("more");
        for (int i = 0; i < 63; i++) {
            map.delete("key" + i);
        }
        map.delete("last");
        assertEquals(0, map.bytes());
    }

    @Test
    void lengthsBeyondTheLimitsAreRefusedByTheHeadAlone() {
        byte[] right =
                new StoreRequest(StoreOperation.COMPARE_AND_SET, 7, "key", new byte[] {1, 2}, new byte[] {3}).encoded();
        int[][] broken = {{0, 99}, {2, 0x7F}, {8, 0x80}, {9, 0x7F}, {12, 0xFF}};
        for (int[] change : broken) {
            byte[] head = java.util.Arrays.copyOf(right, StoreCodec.REQUEST_HEAD_BYTES);
            head[change[0]] = (byte) change[1];

            Refusal refusal = assertThrows(
                    Refusal.class, () -> StoreCodec.RequestHead.decoded(ByteBuffer.wrap(head)), "byte " + change[0]);

            assertEquals(Code.PROTOCOL, refusal.code());
        }
    }

    @Test
    void aRequestIsDecodedAsItWasEncoded() throws Refusal {
        StoreRequest made =
                new StoreRequest(StoreOperation.COMPARE_AND_SET, 7, "ключ", new byte[] {1, 2}, new byte[] {3});
        ByteBuffer bytes = ByteBuffer.wrap(made.encoded());

        StoreRequest read = StoreCodec.RequestHead.decoded(bytes).decodedBody(bytes);

        assertEquals(made.key(), read.key());
        assertEquals(7, read.number());
        assertArrayEquals(made.value(), read.value());
        assertArrayEquals(made.expected(), read.expected());
        StoreRequest absent = new StoreRequest(StoreOperation.COMPARE_AND_SET, 8, "k", new byte[0], null);
        ByteBuffer second = ByteBuffer.wrap(absent.encoded());
        assertNull(StoreCodec.RequestHead.decoded(second).decodedBody(second).expected());
    }
}
