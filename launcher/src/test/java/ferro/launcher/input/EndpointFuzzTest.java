package ferro.launcher.input;

import static ferro.launcher.Said.assertStarts;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import ferro.backend.tcp.net.AddressLookup;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

class EndpointFuzzTest {
    static Stream<byte[]> endpoints() {
        return Stream.of("node0:29500", "[::1]:29500", "127.1:1", "fe80::1%eth0:5", "node0", ":1", "[", "a:99999")
                .map(text -> text.getBytes(StandardCharsets.UTF_8));
    }

    @MethodSource("endpoints")
    @FuzzTest(maxDuration = "1m")
    void anyEndpointIsReadOrRefusedWithItsOption(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        try {
            Endpoint read = Endpoint.parse("--master", text);
            AddressLookup.isLoopback(read.host());
            assertTrue(read.port() >= 1 && read.port() <= 65_535, read.toString());
            assertEquals(read, Endpoint.parse("--master", read.toString()));
        } catch (BadInputException refused) {
            assertStarts(refused.getMessage(), "--master ");
        }
    }
}
