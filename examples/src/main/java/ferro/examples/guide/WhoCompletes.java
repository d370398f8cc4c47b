package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** What depends on an asynchronous call runs on a thread of the program. */
final class WhoCompletes {
    public static void main(String[] arguments) {
        ExecutorService own = Executors.newSingleThreadExecutor(task -> new Thread(task, "my-thread"));
        try (ProcessGroup group = ProcessGroup.join()) {
            int[] sum = {group.rank() + 1};
            group.allReduceAsync(sum, ReduceOp.SUM)
                    .completion()
                    .thenRunAsync(() -> System.out.println("sum " + sum[0] + " on " + name()), own)
                    .toCompletableFuture()
                    .join();
        } finally {
            own.shutdown();
        }
    }

    private static String name() {
        return Thread.currentThread().getName();
    }
}
