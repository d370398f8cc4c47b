package ferro.backend.tcp.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The limits that SECURITY.md names against those of the code. */
class SecurityPageTest {
    private final String page = Files.readString(Path.of("../SECURITY.md")).replaceAll("\\s+", " ");

    SecurityPageTest() throws IOException {}

    @Test
    void limitsOnStrangersAreThoseOfTheListener() {
        assertEquals(5_000, TcpListener.HANDSHAKE_MILLIS, "what the page calls five seconds");
        says("does not finish its handshake is dropped after five seconds");
        says("at most " + TcpListener.FEWEST_PENDING + " are in their handshake at a time ("
                + TcpListener.PENDING_PER_RANK + " for each rank of the largest group, where that is more)");
    }

    @Test
    void secretsHaveTheBytesThatThePageSays() {
        says("Without a secret of at least " + SecretFile.LEAST_RANDOM_BYTES + " random bytes");
        says("makes such a file: " + SecretFile.FRESH_BYTES + " random bytes, mode 0600");
    }

    private void says(String sentence) {
        assertTrue(page.contains(sentence), () -> "SECURITY.md does not say: " + sentence);
    }
}
