package ferro.launcher;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertStarts;
import static ferro.launcher.Said.message;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.launcher.input.BadInputException;
import ferro.launcher.input.Endpoint;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EndpointTest {

    @Test
    void hostAndPortAreRead() {
        assertEquals(new Endpoint("node0", 29500), Endpoint.parse("--master", "node0:29500"));
        assertEquals(new Endpoint("::1", 80), Endpoint.parse("--master", "[::1]:80"));
        assertEquals(new Endpoint("fe80::1%eth0", 80), Endpoint.parse("--master", "[fe80::1%eth0]:80"));
        assertEquals("[::1]:80", new Endpoint("::1", 80).toString());
        assertEquals("node0:80", new Endpoint("node0", 80).toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "node0 | need host:port",
                ":29500 | need host:port",
                "' :29500' | need host:port",
                "node0: | need host:port",
                "'' | need host:port",
                "[::1] | need host:port",
                "[node0]:1 | need host:port",
                "[::1%::1]:1 | need an IPv6 address in the brackets",
                "[x:1]:2950 | need an IPv6 address in the brackets, for example [fd00::1]:29500",
                "node0:0 | a port is 1 to 65535",
                "node0:65536 | port of 1 to 65535",
                "node0:http | port of 1 to 65535",
                "node0:+1 | port of 1 to 65535",
                "::1:80 | an IPv6 address must be in brackets, [::1:80]:port",
            })
    void anInvalidEndpointIsRefusedWithTheNeededForm(String text, String need) {
        String message = message(BadInputException.class, () -> Endpoint.parse("--master", text));

        assertStarts(message, "--master " + text + ": ");
        assertHas(message, need);
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.1.1", "127.1", "127.0.257", "localhost", "ip6-localhost", "::1", "::1%elsewhere"})
    void aLoopbackAddressIsAcceptedIfTheUserTypedIt(String typed) {
        Endpoint wanted = new Endpoint(typed, 29500);
        assertEquals(wanted, RankStore.reachable(wanted, true, EndpointTest::unexpected));
        assertEquals(wanted, RankStore.reachable(wanted, false, EndpointTest::unexpected));
    }

    private static void unexpected(String line) {
        throw new AssertionError("no line is expected, found " + line);
    }
}
