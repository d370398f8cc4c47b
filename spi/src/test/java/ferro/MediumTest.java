package ferro;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What a medium prints. */
class MediumTest {
    @Test
    void aMediumIsPrintedInPlainWords() {
        assertEquals("shared memory", new Medium("shared memory", List.of()) + "");
        assertEquals("TCP (loopback)", new Medium("TCP (loopback)", List.of("127.0.0.1", "127.0.0.1")) + "");
        assertEquals("an unknown medium", Medium.UNKNOWN + "");
    }
}
