package ferro.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
}
