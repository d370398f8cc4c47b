package ferro.launcher.output;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class SecretMaskerTest {
    /** Bytes that base 64 encodes with + and /, and with padding. */
    private static final byte[] BYTES = HexFormat.of().parseHex("fbffbefbffbeab12");

    @Test
    void aSecretIsMaskedAsTextHexAndBase64() {
        SecretMasker mask = new SecretMasker("s3cr3t".getBytes(StandardCharsets.UTF_8));

        assertEquals("a ****** b ******", mask.masked("a s3cr3t b s3cr3t"));
        assertEquals("hex ************", mask.masked("hex 733363723374"));
        assertEquals("base64 ********.", mask.masked("base64 czNjcjN0."));
        assertEquals("s3cr3", mask.masked("s3cr3"));
    }

    @Test
    void bytesAreMaskedInUpperCaseHexAndBothBase64Alphabets() {
        assertFormsOfBytesMasked(new SecretMasker(BYTES));
    }

    @Test
    void aHexSecretIsMaskedInTheFormsOfItsBytes() {
        SecretMasker mask = new SecretMasker("fbffbefbffbeab12".getBytes(StandardCharsets.UTF_8));

        assertFormsOfBytesMasked(mask);
        assertEquals("text ****************", mask.masked("text fbffbefbffbeab12"));
    }

    private static void assertFormsOfBytesMasked(SecretMasker mask) {
        String standard = Base64.getEncoder().encodeToString(BYTES);
        assertEquals("+/+++/++qxI=", standard);
        List<String> forms =
                List.of("fbffbefbffbeab12", "FBFFBEFBFFBEAB12", standard, "+/+++/++qxI", "-_---_--qxI=", "-_---_--qxI");
        for (String form : forms) {
            assertEquals("<" + "*".repeat(form.length()) + ">", mask.masked("<" + form + ">"), form);
        }
    }
}
