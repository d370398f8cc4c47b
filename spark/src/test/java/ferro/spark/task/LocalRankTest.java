package ferro.spark.task;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class LocalRankTest {
    @Test
    void theLocalRankCountsEarlierRanksOfTheSameHost() {
        String[] hosts = {"a", "b", "a", "b", "a"};

        assertEquals(new LocalRank(2, 3), LocalRank.of(hosts, 4));
        assertEquals(new LocalRank(0, 2), LocalRank.of(hosts, 1));
    }
}
