package ferro.segments;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.ReduceOp;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The example of the page docs/guide/threads.md that needs a JDK with virtual threads. */
class VirtualThreadsTest {
    @ParameterizedTest
    @EnumSource(names = {"TCP", "SHM"})
    void aVirtualThreadMakesCalls(Medium medium) {
        Ranks.each(medium, 2, group -> {
            // @start region="virtual"
            try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
                Future<Integer> sum = threads.submit(() -> {
                    int[] numbers = {group.rank() + 1};
                    group.allReduce(numbers, ReduceOp.SUM);
                    return numbers[0];
                });
                assertEquals(3, sum.get()); // with two ranks
            }
            // @end
        });
    }
}
