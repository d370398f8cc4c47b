package ferro.spark.rendezvous;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class JobSecretTest {
    /** The test case A.3 of RFC 5869: a salt of zeros and no info. The test compares the first 32 of 42 bytes. */
    @Test
    void aSecretMatchesTheThirdTestCaseOfRfc5869() {
        byte[] key = HexFormat.of().parseHex("0b".repeat(22));

        byte[] secret = JobSecret.derived(key, new byte[32], "");

        assertEquals(
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d",
                HexFormat.of().formatHex(secret));
    }

    @Test
    void secretsOfTwoJobsDiffer() {
        byte[] key = {1, 2, 3};
        byte[] salt = {4};

        String first = HexFormat.of().formatHex(JobSecret.derived(key, salt, "app-1.0"));
        String second = HexFormat.of().formatHex(JobSecret.derived(key, salt, "app-1.1"));

        assertEquals(64, first.length());
        assertNotEquals(first, second);
    }
}
