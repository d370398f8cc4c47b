package ferro.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EndpointTest {

    @Test
    void hostAndPortAreRead() {
        assertEquals(new Endpoint("node0", 29500), Endpoint.parse("--master", "node0:29500"));
        assertEquals(new Endpoint("::1", 80), Endpoint.parse("--master", "[::1]:80"));
        assertEquals("[::1]:80", new Endpoint("::1", 80).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"node0", ":29500", "node0:", "node0:0", "node0:65536", "node0:http", "::1:80", ""})
    void anythingElseIsRefusedWithWhatWasTyped(String text) {
        String message = assertThrows(BadInputException.class, () -> Endpoint.parse("--master", text))
                .getMessage();

        assertTrue(message.startsWith("--master " + text), message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.1.1", "localhost", "::1"})
    void loopbackThatWasTypedIsMeant(String typed) throws IOException {
        StoreHost.checkReachable(new Endpoint(typed, 29500), InetAddress.getByName("127.0.1.1"));
    }

    @Test
    void nameOfThisMachineThatStandsForLoopbackIsRefused() throws IOException {
        Endpoint named = new Endpoint("node0", 29500);
        InetAddress own = InetAddress.getByName("127.0.1.1");

        String said = assertThrows(BadInputException.class, () -> StoreHost.checkReachable(named, own))
                .getMessage();

        assertTrue(said.startsWith("--master node0:29500: this machine takes node0 for 127.0.1.1,"), said);
        StoreHost.checkReachable(named, InetAddress.getByName("192.0.2.7"));
    }
}
