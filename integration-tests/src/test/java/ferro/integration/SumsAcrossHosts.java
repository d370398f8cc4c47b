package ferro.integration;

import ferro.FerroException;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.integration.drill.Line;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A rank that adds up 64 KiB on all ranks until a file is there, whose path is its argument, and checks every element. Rank 0 says about
 * five times a second, and after every sum that was slow, when its last sum ended and how long the slowest took since it said so last.
 * Where a second argument says so many milliseconds, it rests as long after each such line, and so do the others, whose links are idle
 * then. Each rank says when its call failed, and why.
 */
final class SumsAcrossHosts {
    private static final int LENGTH = 16 << 10;
    private static final long BETWEEN_LINES = 200_000_000;
    private static final long SLOW = 50_000_000;

    private final ProcessGroup group;
    private final long restMillis;
    private final float[] data = new float[LENGTH];
    private long told = System.nanoTime();
    private long slowest;

    private SumsAcrossHosts(ProcessGroup group, long restMillis) {
        this.group = group;
        this.restMillis = restMillis;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Path end = Path.of(arguments[0]);
        long restMillis = arguments.length > 1 ? Long.parseLong(arguments[1]) : 0;
        try (ProcessGroup group = ProcessGroup.join()) {
            System.out.println(Line.of("joined").saying(group.linkReport()));
            try {
                new SumsAcrossHosts(group, restMillis).addUpUntil(end);
            } catch (FerroException failure) {
                long at = System.nanoTime();
                System.out.println(Line.of("failed", failure).with("at", at));
                throw failure;
            }
        }
    }

    private void addUpUntil(Path end) throws InterruptedException {
        for (long sums = 1; ; sums++) {
            Arrays.fill(data, group.rank() + sums % 100);
            // ranks see the file at different times, and end at the same sum
            data[0] = Files.exists(end) ? 1 : 0;
            long begun = System.nanoTime();
            group.allReduce(data, ReduceOp.SUM);
            long ended = System.nanoTime();
            check(sums);
            if (data[0] > 0) {
                System.out.println("done: " + sums);
                return;
            }
            if (group.rank() == 0) {
                tell(sums, begun, ended);
            }
        }
    }

    private void check(long sums) {
        int size = group.worldSize();
        float need = size * (size - 1) / 2f + size * (sums % 100);
        for (int index = 1; index < LENGTH; index++) {
            if (data[index] != need) {
                System.out.println("wrong: element " + index + " of sum " + sums + " is " + data[index]);
                System.exit(7);
            }
        }
    }

    private void tell(long sums, long begun, long ended) throws InterruptedException {
        slowest = Math.max(slowest, ended - begun);
        if (ended - told > BETWEEN_LINES || ended - begun > SLOW) {
            System.out.println(Line.of("sums")
                    .with("number", sums)
                    .with("slowest", slowest)
                    .with("at", ended));
            slowest = 0;
            Thread.sleep(restMillis);
            told = System.nanoTime();
        }
    }
}
