package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The version that docs/wire-protocol.md describes against the one that is spoken. */
class WireProtocolPageTest {
    private final String page = Files.readString(Path.of("../docs/wire-protocol.md"));

    WireProtocolPageTest() throws IOException {}

    @Test
    void thePageDescribesTheVersionInUse() {
        says("\nVersion " + Hello.VERSION + ". ");
        says("| 8 | 2 | version: " + Hello.VERSION + "; ");
    }

    private void says(String words) {
        assertTrue(page.contains(words), () -> "docs/wire-protocol.md does not say: " + words);
    }
}
