import ferro.examples.workqueue.SquareTask;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The work queue of ferro's examples over threads of one JVM: {@code run.sh} beside this file starts it and reads what it
 * prints. Arguments: how often the tasks are computed, number of squares on each side, number of threads.
 */
public class ThreadQueue {
    public static void main(String[] words) throws Exception {
        int side = Integer.parseInt(words[1]);
        ExecutorService threads = Executors.newFixedThreadPool(Integer.parseInt(words[2]));
        try {
            for (int run = 0; run < Integer.parseInt(words[0]); run++) {
                long start = System.nanoTime();
                int points = compute(threads, side);
                double seconds = (System.nanoTime() - start) * 1e-9;
                System.out.printf(Locale.ROOT, "%d tasks, %d points in the set; %.2f s, %.0f tasks per second%n", side * side,
                        points, seconds, side * side / seconds);
            }
        } finally {
            threads.shutdown();
        }
    }

    /** Gives each task to the threads, and takes the results in the order in which they end. */
    private static int compute(ExecutorService threads, int side) throws Exception {
        CompletionService<int[]> ended = new ExecutorCompletionService<>(threads);
        List<Future<int[]>> given = new ArrayList<>();
        for (int task = 0; task < side * side; task++) {
            int square = task;
            given.add(ended.submit(() -> new int[] {square, SquareTask.pointsInSet(square, side)}));
        }
        int[] results = new int[side * side];
        for (int left = given.size(); left > 0; left--) {
            int[] result = ended.take().get();
            results[result[0]] = result[1];
        }
        int points = 0;
        for (int result : results) {
            points += result;
        }
        return points;
    }
}
