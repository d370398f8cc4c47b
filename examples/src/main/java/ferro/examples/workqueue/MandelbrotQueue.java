package ferro.examples.workqueue;

import ferro.MessageStatus;
import ferro.group.ProcessGroup;
import java.util.Arrays;
import java.util.Locale;

/**
 * A work queue. Rank 0 gives out the tasks, and the other ranks compute them. Run the program with
 * {@code ./ferro run -n 4 ferro.examples.workqueue.MandelbrotQueue}.
 *
 * <p>The tasks take unequal times. So rank 0 gives a rank its next task when it has the result of the last one.
 */
public final class MandelbrotQueue {
    /** In place of a task: there is none left. */
    private static final int END = -1;

    private MandelbrotQueue() {}

    /**
     * Computes 10,000 tasks, and prints how many each rank has computed.
     *
     * @param arguments how often the tasks are computed, once without this argument; and the number of squares on each side
     *     of the plane, 100 without it
     */
    public static void main(String[] arguments) {
        int side = arguments.length < 2 ? 100 : Integer.parseInt(arguments[1]);
        try (ProcessGroup group = ProcessGroup.join()) {
            for (int runs = arguments.length == 0 ? 1 : Integer.parseInt(arguments[0]); runs > 0; runs--) {
                group.barrier();
                long start = System.nanoTime();
                if (group.rank() == 0) {
                    int[] tasksByRank = new int[group.worldSize()];
                    int[] results = giveOut(group, side * side, tasksByRank);
                    print(results, tasksByRank, (System.nanoTime() - start) * 1e-9);
                } else {
                    work(group, side);
                }
            }
        }
    }

    // @start region="out"
    /** Gives out the tasks, counts them by rank, and returns the result of each task. */
    static int[] giveOut(ProcessGroup group, int tasks, int[] tasksByRank) {
        if (group.worldSize() < 2) {
            throw new IllegalArgumentException("need at least 2 ranks, found " + group.worldSize());
        }
        int[] results = new int[tasks];
        int next = 0;
        for (int rank = 1; rank < group.worldSize(); rank++) {
            group.send(new int[] {next < tasks ? next++ : END}, rank, 0);
        }
        int[] result = new int[1];
        for (int left = tasks; left > 0; left--) {
            MessageStatus status = group.recv(result, ProcessGroup.ANY_SOURCE, ProcessGroup.ANY_TAG);
            results[status.tag()] = result[0]; // the tag is the number of the task
            tasksByRank[status.source()]++;
            group.send(new int[] {next < tasks ? next++ : END}, status.source(), 0);
        }
        return results;
    }
    // @end

    // @start region="work"
    /** Computes tasks until rank 0 has none left. */
    static void work(ProcessGroup group, int side) {
        int[] task = new int[1];
        group.recv(task, 0, 0);
        while (task[0] != END) {
            int[] result = {SquareTask.pointsInSet(task[0], side)};
            group.send(result, 0, task[0]);
            group.recv(task, 0, 0);
        }
    }
    // @end

    private static void print(int[] results, int[] tasksByRank, double seconds) {
        System.out.printf(
                Locale.ROOT,
                "%d tasks, %d points in the set; %.2f s, %.0f tasks per second; tasks by rank %s%n",
                results.length,
                Arrays.stream(results).sum(),
                seconds,
                results.length / seconds,
                Arrays.toString(tasksByRank));
    }
}
