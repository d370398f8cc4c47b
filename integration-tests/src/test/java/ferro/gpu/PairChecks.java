package ferro.gpu;

import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent.Kind;
import ferro.ReduceOp;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Checks a rank that waits for another rank that does not come: one that is aborted, killed, late, or in another call. */
final class PairChecks {
    static final String READY = "ready to be killed";

    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private static final Duration NEAR_DEADLINE = Duration.ofSeconds(1);

    private PairChecks() {}

    /** Rank 0 waits for rank 1, which makes no call, until another thread of rank 0 aborts. */
    static void abort(Rig rig, FindingsPrinter findings) {
        if (rig.rank() == 0) {
            findings.check("abort frees a rank that waits", () -> abortWhileWaiting(rig));
        } else {
            findings.check("the other rank gets the abort", () -> {
                DeviceTensor data = rig.operand(4);
                rig.group().barrier();
                awaitEndOfInput();
                String said = FaultChecks.failed(
                        rig, () -> rig.group().within(DEADLINE).allReduce(data, ReduceOp.SUM));
                Rig.free(data);
                return said;
            });
        }
    }

    private static String abortWhileWaiting(Rig rig) throws Exception {
        DeviceTensor data = rig.operand(4);
        rig.group().barrier();
        long[] aborted = new long[1];
        CompletableFuture<Void> aborter = CompletableFuture.runAsync(
                () -> {
                    aborted[0] = System.nanoTime();
                    rig.group().abort(new IllegalStateException("requested by the report"));
                },
                CompletableFuture.delayedExecutor(500, TimeUnit.MILLISECONDS));
        String said = FaultChecks.failed(rig, () -> rig.group().allReduce(data, ReduceOp.SUM));
        aborter.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
        long millis = (System.nanoTime() - aborted[0]) / 1_000_000;
        Rig.free(data);
        return "after " + millis + " ms: " + said;
    }

    /** Rank 1 is killed in the middle of many calls; rank 0 must be told of it by its deadline. */
    static void kill(Rig rig, FindingsPrinter findings, PrintStream out) {
        DeviceTensor data = rig.operand(1003);
        rig.group().allReduce(data, ReduceOp.MAX);
        if (rig.rank() == 1) {
            out.println(READY);
            out.flush();
        }
        findings.check("a killed rank ends the other", () -> {
            long[] last = {System.nanoTime()};
            long[] told = new long[1];
            rig.group().onEvent(event -> told[0] = event.kind() == Kind.FAILED ? System.nanoTime() : told[0]);
            String said = FaultChecks.failed(rig, () -> {
                while (true) {
                    rig.group().within(DEADLINE).allReduce(data, ReduceOp.MAX);
                    last[0] = System.nanoTime();
                }
            });
            long millis = (System.nanoTime() - last[0]) / 1_000_000;
            FindingsPrinter.require(millis < DEADLINE.toMillis() + 5_000, "it took %d ms", millis);
            return "listeners are called after " + (told[0] - last[0]) / 1_000_000 + " ms, the call ends after "
                    + millis + " ms: " + said;
        });
    }

    /** Rank 0 calls, rank 1 does not. The deadline ends the call, although NCCL's kernel would wait forever. */
    static void late(Rig rig, FindingsPrinter findings) {
        DeviceTensor data = rig.operand(1003);
        rig.group().allReduce(data, ReduceOp.MAX);
        findings.check(rig.rank() == 0 ? "a rank that does not call is named" : "the late rank is notified", () -> {
            if (rig.rank() == 1) {
                awaitEndOfInput();
                return FaultChecks.failed(rig, () -> rig.group().allReduce(data, ReduceOp.MAX));
            }
            long start = System.nanoTime();
            FerroException failure = FaultChecks.failure(
                    rig, () -> rig.group().within(NEAR_DEADLINE).allReduce(data, ReduceOp.MAX));
            expect(failure, Code.TIMED_OUT, 1);
            return "after " + (System.nanoTime() - start) / 1_000_000 + " ms: " + failure.getMessage();
        });
    }

    /** Both ranks make calls that do not match. NCCL hangs, or lets a call succeed: then the group fails a little later. */
    static void mismatch(Rig rig, FindingsPrinter findings) {
        DeviceTensor data = rig.operand(1 << 20);
        rig.group().allReduce(data, ReduceOp.MAX);
        findings.check("different calls are detected", () -> {
            long start = System.nanoTime();
            boolean[] succeeded = new boolean[1];
            FerroException failure = FaultChecks.failure(rig, () -> {
                if (rig.rank() == 0) {
                    rig.group().within(DEADLINE).allReduce(data, ReduceOp.SUM);
                    succeeded[0] = true;
                    throw awaitFailure(rig);
                } else {
                    rig.group().within(DEADLINE).broadcast(data, 1);
                    // the barrier fails the group: before it, rank 0 has time to see that NCCL let its call succeed
                    LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(2));
                    rig.group().within(DEADLINE).barrier();
                }
            });
            long millis = (System.nanoTime() - start) / 1_000_000;
            FindingsPrinter.require(failure.code() == Code.MISMATCH, "%s: %s", failure.code(), failure.getMessage());
            return (succeeded[0] ? "NCCL let the call succeed with wrong data; the group failed after " : "after ")
                    + millis + " ms: " + failure.getMessage();
        });
    }

    /** Waits for the failure of a group after a call that NCCL has let succeed. */
    private static FerroException awaitFailure(Rig rig) {
        CompletableFuture<Void> failed = new CompletableFuture<>();
        rig.group().onEvent(event -> {
            if (event.kind() == Kind.FAILED) {
                failed.complete(null);
            }
        });
        failed.orTimeout(DEADLINE.toMillis(), TimeUnit.MILLISECONDS).join();
        return rig.group().failure().orElseThrow();
    }

    private static void expect(FerroException failure, Code code, int culprit) {
        FindingsPrinter.require(
                failure.code() == code && failure.where().culprits().equals(Set.of(culprit)),
                "expected %s of rank %s, found %s of %s: %s",
                code,
                culprit,
                failure.code(),
                failure.where().culprits(),
                failure.getMessage());
    }

    /** Checks host tensors, which use one half of the group, and device tensors, which use the other. */
    static String bothKinds(Rig rig) {
        float[] host = new float[1003];
        for (int index = 0; index < host.length; index++) {
            host[index] = Samples.operand(rig.rank(), index);
        }
        DeviceTensor device = rig.operand(host.length);
        rig.group().allReduce(host, ReduceOp.SUM);
        rig.group().allReduce(device, ReduceOp.SUM);
        for (int index = 0; index < host.length; index++) {
            float wanted = Samples.reduced(ReduceOp.SUM, rig.ranks(), index);
            FindingsPrinter.require(host[index] == wanted, "element %d is %s, not %s", index, host[index], wanted);
        }
        long right = rig.expect("allReduce", device, index -> Samples.reduced(ReduceOp.SUM, rig.ranks(), index));
        Rig.free(device);
        return host.length + " elements right on the host, " + right + " on the device";
    }

    /** Waits until the report closes this process's input, which it does when rank 0 has finished. */
    private static void awaitEndOfInput() throws IOException {
        System.in.transferTo(java.io.OutputStream.nullOutputStream());
    }
}
