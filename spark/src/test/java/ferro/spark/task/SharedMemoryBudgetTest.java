package ferro.spark.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.JoinOptions;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class SharedMemoryBudgetTest {
    private static final long MIB = 1 << 20;

    @Test
    void theBudgetIsAQuarterOfTheOverheadPerRank() {
        SparkConf conf = new SparkConf(false).set("spark.executor.memoryOverhead", "2g");

        assertEquals(new SharedMemoryBudget(128 * MIB), SharedMemoryBudget.of(conf, 4));
    }

    @Test
    void theOverheadIsATenthOfTheMemoryAndAtLeast384MiB() {
        SparkConf small = new SparkConf(false).set("spark.executor.memory", "1g");
        SparkConf large = new SparkConf(false).set("spark.executor.memory", "40g");

        assertEquals(new SharedMemoryBudget(96 * MIB), SharedMemoryBudget.of(small, 1));
        assertEquals(new SharedMemoryBudget(1024 * MIB), SharedMemoryBudget.of(large, 1));
    }

    @Test
    void theSettingOfTheJobReplacesTheBudget() {
        SparkConf conf = new SparkConf(false).set("spark.executor.memoryOverhead", "2g");
        JoinOptions options = JoinOptions.of(0, 4);

        assertEquals(
                new SharedMemoryBudget(8 * MIB),
                SharedMemoryBudget.of(options.setting("ferro.shm.bytes", "8MiB"), conf, 4));
        assertEquals(new SharedMemoryBudget(128 * MIB), SharedMemoryBudget.of(options, conf, 4));
    }

    @Test
    void aRefusalNamesTheSetting() {
        String refusal = new SharedMemoryBudget(5 * MIB).refusal(3);

        assertTrue(refusal.startsWith("3 ranks with ferro.shm.bytes=5242880 each do not fit"), refusal);
    }
}
