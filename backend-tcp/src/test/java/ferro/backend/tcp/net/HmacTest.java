package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.tcp.net.Secret.Hmac;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.Random;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

class HmacTest {
    /** Source: RFC 4231, section 4.3, test case 2. */
    @Test
    void returnsTheValueOfTheStandard() {
        Hmac hmac = new Hmac("Jefe".getBytes(StandardCharsets.US_ASCII));
        hmac.update("what do ya want for nothing?".getBytes(StandardCharsets.US_ASCII));

        assertEquals(
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
                HexFormat.of().formatHex(hmac.value()));
    }

    /** Around one block of SHA-256, which is 64 bytes; the empty key is the key of one zero byte. */
    @Test
    void returnsTheValueOfTheJdkForKeysOfAllLengths() throws GeneralSecurityException {
        Random random = new Random(7);
        for (int length = 0; length < 140; length++) {
            byte[] key = new byte[length];
            byte[] text = new byte[random.nextInt(200)];
            random.nextBytes(key);
            random.nextBytes(text);
            Mac jdk = Mac.getInstance("HmacSHA256");
            jdk.init(new SecretKeySpec(length == 0 ? new byte[1] : key, "HmacSHA256"));
            jdk.update((byte) 'A');
            Hmac own = new Hmac(key);
            own.update((byte) 'A');
            own.update(text);

            assertArrayEquals(jdk.doFinal(text), own.value(), length + " bytes");
        }
    }
}
