package ferro.backend.tcp.net;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Bytes that Jazzer makes up, as the answer to a hello: whatever listens there. */
class AnswerFuzzTest {
    static Stream<byte[]> answers() throws Refusal {
        return HandshakeFuzzTest.answers();
    }

    @MethodSource("answers")
    @FuzzTest(maxDuration = "1m")
    void anyAnswerIsRefusedOrAnsweredWithAProof(byte[] bytes) {
        ConnectingHandshake connecting = new ConnectingHandshake(
                HandshakeFuzzTest.credentials(TlsPolicy.TlsMode.AUTO), HandshakeFuzzTest.hello(TlsPolicy.TlsMode.AUTO));
        HandshakeFuzzTest.take(connecting, ByteBuffer.wrap(bytes));
        if (connecting.wanted() == 0) {
            throw new AssertionError("done without the secret");
        }
    }
}
