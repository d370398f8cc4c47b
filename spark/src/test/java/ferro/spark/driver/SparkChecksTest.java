package ferro.spark.driver;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class SparkChecksTest {
    @Test
    void olderSparkIsRefusedWithTheReason() {
        UnsupportedOperationException refusal =
                assertThrows(UnsupportedOperationException.class, () -> SparkChecks.checkVersion("3.5.1"));

        assertEquals(
                "Spark 3.5.1 contains Netty 4.1, but ferro needs Netty 4.2: use Spark 4.1 or newer",
                refusal.getMessage());
        assertThrows(UnsupportedOperationException.class, () -> SparkChecks.checkVersion("4.0.3"));
    }

    @Test
    void newerSparkIsTaken() {
        assertDoesNotThrow(() -> SparkChecks.checkVersion("4.1.1"));
        assertDoesNotThrow(() -> SparkChecks.checkVersion("4.2.0-preview1"));
        assertDoesNotThrow(() -> SparkChecks.checkVersion("5.0.0"));
    }

    @Test
    void dynamicAllocationIsRefusedByTheNameOfItsSetting() {
        SparkConf conf = new SparkConf(false).set("spark.dynamicAllocation.enabled", "true");

        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> SparkChecks.checkConf(conf));

        assertTrue(refusal.getMessage().startsWith("spark.dynamicAllocation.enabled=true: "), refusal.getMessage());
    }
}
