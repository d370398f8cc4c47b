package ferro.spark.task;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class HostPlaceTest {
    @Test
    void placeCountsTheRanksOfTheSameHostBeforeThisOne() {
        String[] hosts = {"a", "b", "a", "b", "a"};

        assertEquals(new HostPlace(2, 3), HostPlace.of(hosts, 4));
        assertEquals(new HostPlace(0, 2), HostPlace.of(hosts, 1));
    }
}
