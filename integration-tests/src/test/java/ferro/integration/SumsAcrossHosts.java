package ferro.integration;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A rank that adds up 64 KiB on all ranks until a file is there, whose path is its argument, and checks every element. Rank 0 says how
 * often so far, about five times a second while it goes on. Where a second argument says so many milliseconds, it rests as long after
 * each such line, and so do the others, whose links are idle then.
 */
final class SumsAcrossHosts {
    private static final int LENGTH = 16 << 10;
    private static final long BETWEEN_LINES = 200_000_000;

    private SumsAcrossHosts() {}

    public static void main(String[] arguments) throws InterruptedException {
        Path end = Path.of(arguments[0]);
        long rest = arguments.length > 1 ? Long.parseLong(arguments[1]) : 0;
        try (ProcessGroup group = ProcessGroup.join()) {
            int size = group.worldSize();
            float[] data = new float[LENGTH];
            long told = System.nanoTime();
            for (long sums = 1; ; sums++) {
                Arrays.fill(data, group.rank() + sums % 100);
                // ranks see the file at different times, and end at the same sum
                data[0] = Files.exists(end) ? 1 : 0;
                group.allReduce(data, ReduceOp.SUM);
                float need = size * (size - 1) / 2f + size * (sums % 100);
                for (int index = 1; index < LENGTH; index++) {
                    if (data[index] != need) {
                        System.out.println("wrong: element " + index + " of sum " + sums + " is " + data[index]);
                        System.exit(7);
                    }
                }
                if (data[0] > 0) {
                    System.out.println("done: " + sums);
                    return;
                }
                if (group.rank() == 0 && System.nanoTime() - told > BETWEEN_LINES) {
                    told = System.nanoTime();
                    System.out.println("sums: " + sums);
                    Thread.sleep(rest);
                    told = System.nanoTime();
                }
            }
        }
    }
}
