package ferro.control.wire;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Bytes that Jazzer generates to reach new branches. It begins with a message of each record. */
class MessageFuzzTest {
    static Stream<byte[]> messages() {
        return Stream.of(MessageFamily.values())
                .flatMap(family -> family.samples.stream())
                .map(message -> {
                    byte[] bytes = new byte[message.encoded().remaining()];
                    message.encoded().get(bytes);
                    return bytes;
                });
    }

    // @start region="fuzz"
    @MethodSource("messages")
    @FuzzTest(maxDuration = "1m")
    void anyMessageIsRefusedOrEncodesToItsBytes(byte[] bytes) {
        for (MessageFamily family : MessageFamily.values()) {
            MessageFuzz.isRead(family, bytes);
        }
    }
    // @end
}
