package ferro.spark.driver;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SparkChecksTest {
    @ParameterizedTest
    @ValueSource(strings = {"3.4.4", "3.3.0-amzn-1", "2.4.8", "2", "2-SNAPSHOT"})
    void anOlderSparkIsRefusedWithTheSupportedVersions(String version) {
        UnsupportedOperationException refusal =
                assertThrows(UnsupportedOperationException.class, () -> SparkChecks.checkVersion(version));

        assertEquals(
                "found Spark " + version + ", but ferro needs Spark 3.5, 4.0, 4.1 or 4.2, because older versions have"
                        + " no job tags: run the application on Spark 3.5 or newer",
                refusal.getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "3.5.0",
                "3.5.6-amzn-2",
                "4.0.2-amzn-0",
                "4.1.1",
                "4.2.0-preview1",
                "5.0.0",
                "4",
                "4-SNAPSHOT",
                "3",
                "",
                "master"
            })
    void aSupportedOrNewerSparkIsAccepted(String version) {
        assertDoesNotThrow(() -> SparkChecks.checkVersion(version));
    }

    @Test
    void dynamicAllocationIsRefusedByItsSetting() {
        SparkConf conf = new SparkConf(false).set("spark.dynamicAllocation.enabled", "true");

        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> SparkChecks.checkConf(conf));

        assertTrue(refusal.getMessage().startsWith("spark.dynamicAllocation.enabled=true: "), refusal.getMessage());
    }
}
