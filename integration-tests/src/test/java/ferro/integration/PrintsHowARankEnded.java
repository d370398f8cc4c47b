package ferro.integration;

import ferro.FerroException;
import ferro.RankEnd;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Ranks that add up until rank 1 prints a coloured line with the secret and is killed. The others print its end. */
final class PrintsHowARankEnded {
    private static final int GRACE_SECONDS = 5;

    private static final int CALLS = 20;

    private PrintsHowARankEnded() {}

    public static void main(String[] arguments) throws IOException {
        // the launcher removes its own file once all ranks have joined
        String secret =
                Files.readString(Path.of(System.getenv("FERRO_SECRET_FILE"))).strip();
        try (ProcessGroup group = ProcessGroup.join()) {
            float[] data = {1f};
            for (int call = 0; call < CALLS; call++) {
                group.allReduce(data, ReduceOp.MAX);
            }
            if (group.rank() == 1) {
                System.out.println("\u001b[31mlast words\u001b[0m " + secret + "\u0007");
                new ProcessBuilder("kill", "-9", "" + ProcessHandle.current().pid()).start();
            }
            CountDownLatch printed = new CountDownLatch(1);
            // the launcher ends survivors soon; on a busy machine the end of rank 1 may arrive later
            Runtime.getRuntime().addShutdownHook(new Thread(() -> await(printed)));
            try {
                while (true) {
                    group.allReduce(data, ReduceOp.MAX);
                }
            } catch (FerroException failure) {
                print(group);
                throw failure;
            } finally {
                printed.countDown();
            }
        }
    }

    private static void await(CountDownLatch printed) {
        try {
            printed.await(GRACE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    private static void print(ProcessGroup group) {
        while (true) {
            FerroException failure = group.failure().orElseThrow();
            Map<Integer, RankEnd> ends = failure.where().ends();
            if (!ends.isEmpty()) {
                System.out.println("hears " + ends.get(1) + " | " + failure.getMessage());
                return;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
        }
    }
}
