package ferro.integration.restarts;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A rank that adds up until a file is there, whose path is its argument, and checks every sum. What it adds depends on its
 * generation, so a sum with a part of another generation is wrong and ends the rank with exit code 7.
 */
final class SumsOfGenerations {
    private static final int LENGTH = 64;
    private static final int WRONG = 7;
    /** Sums need not take the cores of other tests. */
    private static final long REST_MILLIS = 2;

    private SumsOfGenerations() {}

    public static void main(String[] arguments) throws InterruptedException {
        Path end = Path.of(arguments[0]);
        int generation = Integer.parseInt(System.getenv("FERRO_GENERATION"));
        try (ProcessGroup group = ProcessGroup.join()) {
            for (long sums = 1; ; sums++) {
                if (sum(group, generation, Files.exists(end))) {
                    System.out.println("done in generation " + generation);
                    return;
                }
                if (sums == 1) {
                    System.out.println("generation " + generation + " sums as pid "
                            + ProcessHandle.current().pid() + " over: " + group.linkReport());
                }
                Thread.sleep(REST_MILLIS);
            }
        }
    }

    /** Adds up once; returns whether a rank has seen the file. Ranks see it at different times, and end at the same sum. */
    private static boolean sum(ProcessGroup group, int generation, boolean seen) {
        float[] data = new float[LENGTH];
        Arrays.fill(data, group.rank() + 100f * generation);
        data[0] = seen ? 1 : 0;
        group.allReduce(data, ReduceOp.SUM);
        int size = group.worldSize();
        float need = size * (size - 1) / 2f + size * 100f * generation;
        for (int index = 1; index < LENGTH; index++) {
            if (data[index] != need) {
                System.out.println("wrong: element " + index + " is " + data[index] + ", need " + need);
                System.exit(WRONG);
            }
        }
        return data[0] > 0;
    }
}
