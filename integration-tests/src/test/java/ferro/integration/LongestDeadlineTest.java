package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.harness.Ranks;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Ranks over sockets and shared memory whose deadline never comes: everything that looks at it goes on as ever. */
class LongestDeadlineTest {
    private static final Duration LONGEST = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);

    @ParameterizedTest
    @EnumSource(names = {"TCP", "SHM"})
    void ranksJoinCallAndCloseWithTheLongestTimeouts(Links links) {
        Map<String, String> settings = Map.of(
                "ferro.links", links.toString(),
                "ferro.timeout", Long.MAX_VALUE + "s",
                "ferro.heartbeat.limit", Long.MAX_VALUE + "s");
        try (Ranks ranks = new Ranks(settings)) {
            Ranks.eachOf(ranks.joined(LONGEST, List.of(Map.of(), Map.of())), group -> {
                links.assertFoundIn(group.linkReport(), 2);
                callsOf(group);
            });
        }
    }

    private static void callsOf(ProcessGroup group) {
        float[] sum = {2 + group.rank(), 5};
        group.allReduce(sum, ReduceOp.SUM);
        assertArrayEquals(new float[] {5, 10}, sum, "sum of two ranks");
        try (ProcessGroup both = group.newGroup(0, 1)) {
            int[] message = {7};
            if (both.rank() == 0) {
                both.send(message, 1, 3);
            } else {
                both.recv(message, 0, 3);
            }
            assertTrue(both.barrierAsync().await(LONGEST), "a barrier that is awaited for ever");
        }
        group.barrier();
        group.close(LONGEST);
    }
}
