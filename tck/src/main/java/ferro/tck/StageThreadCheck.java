package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * A check of the threads on which chained stages run. Every rank of a group makes calls. Each call has a chained stage
 * that records the thread on which the stage runs. A stage that is chained to a completed call runs on the chaining
 * thread. Therefore, one rank makes each call last, after all other ranks have chained their stages. Stages of the last
 * calls always run on a thread of the group, because the last calls fail after their stages are chained.
 */
final class StageThreadCheck {
    /** Number of ranks of the group. */
    static final int WORLD_SIZE = 3;

    private static final long LIMIT_SECONDS = 20;
    /**
     * Maximum wait for the stages of other ranks. A stage that is chained after the wait may run on the thread of its
     * rank. If a stage is chained too late, the test covers less.
     */
    private static final long CHAIN_MILLIS = 200;

    /** The last calls of a group before its close. */
    enum LastCallState {
        /** All last calls have returned with success. */
        WELL,
        /** Ranks 0 and 1 have timed out in a call. */
        TIMED_OUT,
        /** Ranks 0 and 1 have aborted the group during a call. */
        ABORTED,
        /** Ranks 0 and 1 close the group during a call. */
        PENDING
    }

    private final TestedBackend subject;
    private final GroupThreads threads;
    private final CountDownLatch[] chained = IntStream.range(0, WORLD_SIZE)
            .mapToObj(last -> new CountDownLatch(WORLD_SIZE - 1))
            .toArray(CountDownLatch[]::new);
    private final CountDownLatch receiving = new CountDownLatch(1);
    private final CountDownLatch pending = new CountDownLatch(2);
    private final CountDownLatch ended = new CountDownLatch(2);

    StageThreadCheck(TestedBackend subject, GroupThreads threads) {
        this.subject = subject;
        this.threads = threads;
    }

    /** Makes one collective for each rank as the last caller, one message, and one collective in a subgroup. */
    void makeAll(ProcessGroup group) throws Exception {
        group.onEvent(event -> threads.note());
        for (int last = 0; last < WORLD_SIZE; last++) {
            if (group.rank() == last) {
                awaitIfTheCallsReturn(chained[last]);
            }
            try (DeviceOperands device = DeviceOperands.of(subject, group.rank())) {
                CompletableFuture<Void> stage = stage(sum(group, device));
                chained[last].countDown();
                stage.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            }
        }
        if (!subject.refuses(BackendContract.ASYNCHRONOUS_MESSAGES)) {
            message(group);
        }
        if (!subject.refuses(BackendContract.SUBGROUPS)) {
            try (ProcessGroup part = group.newGroup(2, 0, 1)) {
                stage(part.barrierAsync()).get(LIMIT_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    private void message(ProcessGroup group) throws Exception {
        try (DeviceOperands device = DeviceOperands.of(subject, group.rank())) {
            int[] data = {group.rank()};
            if (group.rank() == 0) {
                CompletableFuture<Void> stage = stage(group.recvAsync(device.tensor(HostTensor.of(data)), 1, 0));
                receiving.countDown();
                stage.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            } else if (group.rank() == 1) {
                awaitIfTheCallsReturn(receiving);
                stage(group.sendAsync(device.tensor(HostTensor.of(data)), 0, 0)).get(LIMIT_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    /** Makes the last calls of a rank. Rank 2 makes no last call, so that the last calls of ranks 0 and 1 fail. */
    void makeLast(ProcessGroup group, LastCallState last) throws Exception {
        if (last == LastCallState.WELL) {
            return;
        }
        if (group.rank() == 2) {
            RuleChecks.opens(ended, "ranks 0 and 1 have not ended their calls");
            return;
        }
        boolean timesOut = last == LastCallState.TIMED_OUT;
        Work never = group.within(Duration.ofMillis(timesOut ? 200 : 20_000)).barrierAsync();
        CompletableFuture<Void> stage = stage(never);
        pending.countDown();
        RuleChecks.opens(pending, "ranks 0 and 1 have not called");
        if (last == LastCallState.ABORTED) {
            group.abort(new IllegalStateException("out of paper"));
        } else if (last == LastCallState.PENDING) {
            closeEarly(group);
        }
        RuleChecks.fails(each -> never.await(), group, Code.values());
        stage.handle((done, failure) -> null).get(LIMIT_SECONDS, TimeUnit.SECONDS);
        if (last != LastCallState.PENDING) {
            group.onEvent(event -> threads.note());
        }
        ended.countDown();
    }

    private static void closeEarly(ProcessGroup group) {
        try {
            group.close(Duration.ofMillis(300));
        } catch (FerroException ofTheOther) {
            // the early close of the other rank may fail the group first
            assertTrue(group.failure().isPresent(), "close() failed, but failure() is empty: " + ofTheOther);
        }
    }

    private static Work sum(ProcessGroup group, DeviceOperands device) {
        HostTensor data = HostTensor.of(new float[] {group.rank() + 2, 3});
        return group.submit(device.call(Collective.allReduce(data, ReduceOp.SUM)));
    }

    private CompletableFuture<Void> stage(Work work) {
        return work.completion().whenComplete((done, failure) -> threads.note()).toCompletableFuture();
    }

    /** Waits a limited time for the stages of other ranks, because a back end may block in its asynchronous calls. */
    private static void awaitIfTheCallsReturn(CountDownLatch latch) throws InterruptedException {
        latch.await(CHAIN_MILLIS, TimeUnit.MILLISECONDS);
    }
}
