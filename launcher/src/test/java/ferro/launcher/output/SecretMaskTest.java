package ferro.launcher.output;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class SecretMaskTest {
    @Test
    void secretIsMaskedInEveryForm() {
        SecretMask mask = new SecretMask("s3cr3t".getBytes(StandardCharsets.UTF_8));

        assertEquals("a ****** b ******", mask.masked("a s3cr3t b s3cr3t"));
        assertEquals("hex ************", mask.masked("hex 733363723374"));
        assertEquals("base64 ********.", mask.masked("base64 czNjcjN0."));
        assertEquals("s3cr3", mask.masked("s3cr3"));
    }
}
