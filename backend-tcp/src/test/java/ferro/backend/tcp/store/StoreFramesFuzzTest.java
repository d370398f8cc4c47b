package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.store.StoreCodec.RequestHead;
import ferro.backend.tcp.store.StoreCodec.StoreOperation;
import ferro.backend.tcp.store.StoreCodec.StoreRequest;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Bytes that Jazzer makes up, as requests of a client of the store, whose map takes what is read. */
class StoreFramesFuzzTest {
    static Stream<byte[]> requests() {
        byte[] amount = ByteBuffer.allocate(Long.BYTES).putLong(7).array();
        return Arrays.stream(StoreOperation.values())
                .map(each -> new StoreRequest(each, 5, "key", amount, each == StoreOperation.SET ? null : amount))
                .map(StoreRequest::encoded);
    }

    @MethodSource("requests")
    @FuzzTest(maxDuration = "1m")
    void anyRequestIsRefusedOrExecuted(byte[] bytes) {
        StoreMap map = new StoreMap();
        ByteBuffer left = ByteBuffer.wrap(bytes);
        try {
            while (left.remaining() >= StoreCodec.REQUEST_HEAD_BYTES) {
                RequestHead head = RequestHead.decoded(left);
                assertTrue(head.following() >= 0, head.toString());
                if (left.remaining() < head.following()) {
                    return;
                }
                int from = left.position();
                StoreRequest request = head.decodedBody(left);
                assertEquals(from + head.following(), left.position(), "bytes that were read");
                run(map, request);
            }
        } catch (Refusal refused) {
            assertTrue(!refused.getMessage().isBlank());
        }
    }

    private static void run(StoreMap map, StoreRequest request) throws Refusal {
        switch (request.operation()) {
            case SET -> map.set(request.key(), request.value());
            case ADD -> {
                if (request.value().length == Long.BYTES) {
                    map.add(request.key(), ByteBuffer.wrap(request.value()).getLong());
                }
            }
            case COMPARE_AND_SET -> map.compareAndSet(request.key(), request.expected(), request.value());
            case DELETE -> map.delete(request.key());
            case WHEN -> {
                java.util.function.Consumer<byte[]> told = value -> {};
                map.when(request.key(), told);
                map.forget(request.key(), told);
            }
            default -> {}
        }
    }
}
