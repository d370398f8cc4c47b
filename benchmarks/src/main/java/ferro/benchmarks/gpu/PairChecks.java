package ferro.benchmarks.gpu;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.ReduceOp;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** What happens to a rank that waits for one that does not come: it was aborted, or killed. */
final class PairChecks {
    /** What rank 1 says when it may be killed. */
    static final String READY = "ready to be killed";

    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private PairChecks() {}

    /** Rank 0 waits for rank 1, which makes no call, until another thread of rank 0 aborts. */
    static void abort(Rig rig, Findings findings) {
        if (rig.rank() == 0) {
            findings.check("abort frees a rank that waits", () -> abortWhileWaiting(rig));
        } else {
            findings.check("the other rank is told", () -> {
                DeviceTensor data = rig.operand(DataType.FLOAT32, 4);
                rig.group().barrier();
                awaitEndOfInput();
                String said =
                        FaultChecks.failed(() -> rig.group().within(DEADLINE).allReduce(data, ReduceOp.SUM));
                Rig.free(data);
                return said;
            });
        }
    }

    private static String abortWhileWaiting(Rig rig) throws Exception {
        DeviceTensor data = rig.operand(DataType.FLOAT32, 4);
        rig.group().barrier();
        long[] aborted = new long[1];
        CompletableFuture<Void> aborter = CompletableFuture.runAsync(
                () -> {
                    aborted[0] = System.nanoTime();
                    rig.group().abort(new IllegalStateException("the report wants it"));
                },
                CompletableFuture.delayedExecutor(500, TimeUnit.MILLISECONDS));
        String said = FaultChecks.failed(() -> rig.group().allReduce(data, ReduceOp.SUM));
        aborter.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
        long millis = (System.nanoTime() - aborted[0]) / 1_000_000;
        Rig.free(data);
        return "after " + millis + " ms: " + said;
    }

    /** Rank 1 is killed in the midst of many calls; rank 0 must hear of it by its deadline. */
    static void kill(Rig rig, Findings findings, PrintStream out) {
        DeviceTensor data = rig.operand(DataType.FLOAT32, 1003);
        rig.group().allReduce(data, ReduceOp.MAX);
        if (rig.rank() == 1) {
            out.println(READY);
            out.flush();
        }
        findings.check("a killed rank ends the other", () -> {
            long[] last = {System.nanoTime()};
            String said = FaultChecks.failed(() -> {
                while (true) {
                    rig.group().within(DEADLINE).allReduce(data, ReduceOp.MAX);
                    last[0] = System.nanoTime();
                }
            });
            long millis = (System.nanoTime() - last[0]) / 1_000_000;
            Findings.require(millis < DEADLINE.toMillis() + 5_000, "it took %d ms", millis);
            return "after " + millis + " ms: " + said;
        });
    }

    /** The report closes this process's input when rank 0 is through. */
    private static void awaitEndOfInput() throws IOException {
        System.in.transferTo(java.io.OutputStream.nullOutputStream());
    }
}
