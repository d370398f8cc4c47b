package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import ferro.FerroException.Code;
import ferro.backend.tcp.net.Refusal;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Bytes that Jazzer makes up, as frames of a control connection. */
class ControlFrameFuzzTest {
    static Stream<byte[]> frames() {
        return Stream.of(
                        ControlFrame.bare(ControlFrame.Type.GOODBYE),
                        ControlFrame.ready(17),
                        ControlFrame.message(3, ByteBuffer.wrap(new byte[] {1, 2, 3})),
                        ControlFrame.refused(new Refusal(Code.PROTOCOL, "no")))
                .flatMap(frame -> Stream.of(frame.encoded(false), frame.encoded(true)));
    }

    @MethodSource("frames")
    @FuzzTest(maxDuration = "1m")
    void anyFrameIsRefusedOrEncodesToItsBytes(byte[] bytes) {
        for (boolean checksum : new boolean[] {false, true}) {
            if (bytes.length >= ControlFrame.HEAD_BYTES) {
                read(bytes, checksum);
            }
        }
    }

    private static void read(byte[] bytes, boolean checksum) {
        try {
            ControlFrame.FrameHead head = ControlFrame.FrameHead.decoded(ByteBuffer.wrap(bytes));
            int whole = ControlFrame.HEAD_BYTES + head.bytes() + (checksum ? ControlFrame.CHECKSUM_BYTES : 0);
            assertTrue(head.bytes() <= ControlFrame.MOST_BODY_BYTES, head.toString());
            if (bytes.length < whole) {
                return;
            }
            ByteBuffer body = ByteBuffer.wrap(bytes).position(ControlFrame.HEAD_BYTES);
            ControlFrame frame = checksum ? head.withCheckedBody(body) : head.withBody(body);
            byte[] again = frame.encoded(checksum);
            byte[] came = Arrays.copyOf(bytes, whole);
            assertTrue(Arrays.equals(again, came), () -> "written as " + Arrays.toString(again));
        } catch (Refusal refused) {
            assertTrue(refused.code() == Code.PROTOCOL, refused.getMessage());
        }
    }
}
