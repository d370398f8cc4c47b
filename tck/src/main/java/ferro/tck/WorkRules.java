package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.cells.CallFactory;
import ferro.tck.cells.RandomCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * Rules 301 to 311 and 314 are about the order of operations and about the state that a handle reports. Rule 228 is
 * about the cancelling of a receive.
 */
interface WorkRules extends TestedBackend {
    /** Checks that each operation starts from the result of the previous operation. */
    @Rule(value = 301, ranks = 3)
    default void operationsRunInTheOrderTheyWereSubmitted(ProcessGroup group) {
        long[] data = {group.rank() + 2};
        HostTensor tensor = HostTensor.of(data);
        List<Work> queued = new ArrayList<>();
        queued.add(group.allReduceAsync(tensor, ReduceOp.PRODUCT));
        queued.add(group.allReduceAsync(tensor, ReduceOp.SUM));
        queued.add(group.submit(Collective.broadcast(tensor, 2)));
        for (int turn = 0; turn < 20; turn++) {
            queued.add(group.allReduceAsync(tensor, turn % 2 == 0 ? ReduceOp.SUM : ReduceOp.MAX));
        }
        queued.get(queued.size() - 1).await();
        for (Work work : queued) {
            assertTrue(work.isDone(), "operation " + work.sequence() + " is not done, but the last one is");
        }
        assertEquals(2 * 3 * 4 * 3 * 59_049L, data[0], "product, sum and ten further sums over 3 ranks");
    }

    /** Checks that a blocking call comes after the operations that were submitted before it. */
    @Rule(value = 302, ranks = 3)
    default void aBlockingCallRunsAfterEarlierOperations(ProcessGroup group) {
        for (int turn = 0; turn < 20; turn++) {
            long[] data = {group.rank() + 2};
            Work first = group.allReduceAsync(HostTensor.of(data), ReduceOp.PRODUCT);
            group.allReduce(data, ReduceOp.SUM);
            assertTrue(first.isDone(), "a blocking call returned before an earlier operation had ended");
            assertEquals(72, data[0], "product, then sum");
            first.await();
        }
    }

    /** Checks that sequence numbers count the collectives of a group from 1. A message has the sequence number -1. */
    @Rule(value = 303, ranks = 2)
    default void sequenceNumbersCountCollectivesFromOne(ProcessGroup group) {
        assertEquals(1, finished(group.barrierAsync()).sequence(), "number of the first operation");
        group.barrier();
        assertEquals(3, finished(group.barrierAsync()).sequence(), "number of the third operation");
        if (!refuses(ASYNCHRONOUS_MESSAGES)) {
            int peer = 1 - group.rank();
            Work receive = group.recvAsync(HostTensor.of(new int[1]), peer, 0);
            assertEquals(-1, group.sendAsync(HostTensor.of(new int[1]), peer, 0).sequence(), "number of a send");
            assertEquals(-1, finished(receive).sequence(), "number of a receive");
        }
        assertEquals(4, finished(group.barrierAsync()).sequence(), "number of the fourth operation");
    }

    private static Work finished(Work work) {
        work.await();
        return work;
    }

    /** Checks that a wait with a time limit does not change the operation. */
    @Rule(304)
    default void aWaitWithATimeLimitDoesNotChangeTheOperation() {
        CountDownLatch polled = new CountDownLatch(1);
        eachRank(2, group -> {
            if (group.rank() == 1) {
                RuleChecks.opens(polled, "rank 0 has not checked its operation");
            }
            long[] data = {group.rank() + 4};
            Work work = group.allReduceAsync(HostTensor.of(data), ReduceOp.SUM);
            if (group.rank() == 0) {
                assertFalse(work.await(Duration.ofMillis(30)), "done, but rank 1 has not called");
                assertFalse(work.await(Duration.ZERO), "done, but rank 1 has not called");
                assertFalse(work.isDone(), "done, but rank 1 has not called");
                polled.countDown();
            }
            assertTrue(work.await(Duration.ofSeconds(20)), "not done 20 s after both ranks have called");
            assertTrue(work.isDone(), "not done, but await has returned true");
            assertEquals(9, data[0], "sum of 4 and 5");
            RuleChecks.works(group);
        });
    }

    /** Checks that a dependent stage that blocks does not stop the progress of the group. */
    @Rule(305)
    default void aDependentStageMayBlockWithoutStoppingTheGroup() {
        CountDownLatch chained = new CountDownLatch(1);
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        eachRank(2, group -> {
            if (group.rank() == 1) {
                // a stage that is chained to completed work runs on the thread that chains this stage
                RuleChecks.opens(chained, "rank 0 has not chained its dependant");
            }
            Work first = group.allReduceAsync(HostTensor.of(new int[] {3}), ReduceOp.SUM);
            CompletionStage<Void> dependant = first.completion();
            if (group.rank() == 0) {
                dependant = dependant.thenRun(() -> {
                    blocked.countDown();
                    RuleChecks.opens(released, "later operations did not end while the dependant blocked");
                });
                chained.countDown();
            }
            RuleChecks.opens(blocked, "the dependant was never run");
            Work second = group.allReduceAsync(HostTensor.of(new int[] {5}), ReduceOp.SUM);
            RuleChecks.eventually("the end of the second operation", Duration.ofSeconds(10), second::isDone);
            RuleChecks.works(group);
            released.countDown();
            dependant.toCompletableFuture().get(20, TimeUnit.SECONDS);
        });
    }

    /** Checks that the elapsed time of an operation stops when the operation ends. */
    @Rule(value = 306, ranks = 2)
    default void elapsedTimeStopsAtTheEnd(ProcessGroup group) {
        long before = System.nanoTime();
        Work work = finished(group.barrierAsync());
        Duration elapsed = work.elapsed();
        Duration bound = Duration.ofNanos(System.nanoTime() - before);
        assertFalse(elapsed.isNegative(), "elapsed is " + elapsed);
        assertTrue(elapsed.compareTo(bound) <= 0, "elapsed is " + elapsed + ", the call took " + bound);
        group.barrier();
        assertEquals(elapsed, work.elapsed(), "elapsed time of an operation that has ended");
    }

    /** Checks that a failed operation reports the same failure on each wait, and in its completion stage. */
    @Rule(307)
    default void aFailedOperationReportsItsFailureEachTime() {
        try (Ranks ranks = group(2)) {
            Work work = ranks.rank(0).within(Duration.ofMillis(100)).barrierAsync();
            List<Throwable> outcomes = ranks.outcomes(Ranks.LIMIT, group -> {
                if (group.rank() == 0) {
                    RuleChecks.fails(each -> work.await(), group, Code.TIMED_OUT);
                    RuleChecks.fails(each -> work.await(), group, Code.TIMED_OUT);
                    RuleChecks.fails(each -> work.await(Duration.ofSeconds(1)), group, Code.TIMED_OUT);
                    assertTrue(work.isDone(), "a failed operation is not done");
                    Future<Void> stage = work.completion().toCompletableFuture();
                    Throwable failure = assertThrows(ExecutionException.class, () -> stage.get(5, TimeUnit.SECONDS));
                    RuleChecks.failure(failure.getCause(), "the stage of rank 0", Code.TIMED_OUT);
                }
            });
            assertNull(outcomes.get(0), "outcome of the checks on rank 0");
        }
    }

    /** Checks that many small operations may be queued at once. */
    @Rule(value = 308, ranks = 4)
    default void hundredsOfOperationsMayBeQueued(ProcessGroup group) {
        int[][] data = new int[300][];
        Work[] queued = new Work[data.length];
        for (int number = 0; number < data.length; number++) {
            data[number] = new int[] {number + group.rank(), 2};
            queued[number] = group.allReduceAsync(HostTensor.of(data[number]), ReduceOp.SUM);
        }
        for (int number = 0; number < data.length; number++) {
            queued[number].await();
            assertArrayEquals(new int[] {4 * number + 6, 8}, data[number], "operation " + number);
        }
    }

    /** Checks that several threads may wait for one operation, even if another thread has started the operation. */
    @Rule(value = 309, ranks = 2)
    default void severalThreadsMayWaitForOneOperation(ProcessGroup group) throws Exception {
        for (int turn = 0; turn < 20; turn++) {
            long[] data = {group.rank() + 4};
            Work work = group.allReduceAsync(HostTensor.of(data), ReduceOp.SUM);
            List<CompletableFuture<Void>> waiting = new ArrayList<>();
            for (int waiter = 0; waiter < 3; waiter++) {
                waiting.add(RuleChecks.onThread(work::await));
            }
            work.await();
            for (CompletableFuture<Void> ended : waiting) {
                ended.get(20, TimeUnit.SECONDS);
            }
            assertEquals(9, data[0], "sum of 4 and 5");
        }
    }

    /** Checks that an operation without a waiting thread completes, even after waits for earlier operations ended. */
    @Rule(310)
    default void anOperationWithoutAWaiterCompletes() {
        ConcurrentLinkedQueue<Duration> slow = new ConcurrentLinkedQueue<>();
        eachRank(2, group -> {
            for (int turn = 0; turn < 200; turn++) {
                long[] data = {group.rank() + 4};
                HostTensor tensor = HostTensor.of(data);
                Work first = group.allReduceAsync(tensor, ReduceOp.SUM);
                Work second = group.allReduceAsync(tensor, ReduceOp.SUM);
                Work third = group.allReduceAsync(tensor, ReduceOp.SUM);
                CompletableFuture<Void> waiter = RuleChecks.onThread(second::await);
                first.await();
                third.completion().toCompletableFuture().get(20, TimeUnit.SECONDS);
                waiter.get(20, TimeUnit.SECONDS);
                assertEquals(36, data[0], "three sums from 4 and 5");
                if (third.elapsed().toMillis() >= 800) {
                    slow.add(third.elapsed());
                }
            }
        });
        // a busy machine may sometimes stop a thread for a while
        assertTrue(slow.size() <= 2, "of 400 operations, " + slow.size() + " took 800 ms or more: " + slow);
    }

    /** Checks that queued operations, which may be in flight together, give the results of single operations. */
    @Rule(311)
    default void queuedOperationsGiveTheResultsOfSingleOperations() {
        for (int worldSize = 2; worldSize <= 4; worldSize++) {
            eachRank(worldSize, group -> {
                RandomCalls oneByOne = new RandomCalls(group.rank(), group.worldSize());
                RandomCalls queued = new RandomCalls(group.rank(), group.worldSize());
                for (int seed = 1; seed <= 10; seed++) {
                    possible(group, oneByOne.make(seed, 25))
                            .forEach(call -> group.submit(call).await());
                    possible(group, queued.make(seed, 25)).stream()
                            .map(group::submit)
                            .toList()
                            .forEach(Work::await);
                    assertArrayEquals(oneByOne.left(), queued.left(), "memory after the calls of seed " + seed);
                }
            });
        }
    }

    private static List<Collective> possible(ProcessGroup group, List<Collective> calls) {
        return calls.stream()
                .filter(call -> CallFactory.unsupported(group, call).isEmpty())
                .toList();
    }

    /** Checks that a wait for any or some of several operations ends when one operation ends, or by an interrupt. */
    @Rule(value = 314, needs = ASYNCHRONOUS_MESSAGES)
    default void aWaitForAnyOfSeveralOperationsEndsWithTheFirst() {
        assertThrows(IllegalArgumentException.class, () -> Work.any(List.of()));
        assertThrows(IllegalArgumentException.class, () -> Work.some(List.of()));
        eachRank(2, group -> {
            if (group.rank() == 1) {
                for (int tag = 2; tag >= 0; tag--) {
                    // each message is sent when the message before it was found
                    group.send(new int[] {tag + 7}, 0, tag);
                    group.recv(new int[1], 0, 5);
                }
                RuleChecks.works(group);
                return;
            }
            int[][] received = new int[3][1];
            List<Work> receives = IntStream.range(0, 3)
                    .mapToObj(tag -> group.recvAsync(received[tag], 1, tag))
                    .toList();
            for (int tag = 2; tag >= 0; tag--) {
                List<Work> pending = receives.subList(0, tag + 1);
                assertEquals(tag, Work.any(pending), "position of the receive that has ended");
                assertEquals(tag + 7, received[tag][0], "message with tag " + tag);
                assertEquals(List.of(tag), Work.some(pending), "receives that have ended");
                group.send(new int[1], 1, 5);
            }
            assertEquals(List.of(0, 1, 2), Work.some(receives), "receives that have ended at last");
            assertEquals(0, Work.any(receives), "lowest position of the receives that have ended");
            Work late = group.within(Duration.ofMillis(50)).recvAsync(new int[1], 1, 6);
            Work never = group.recvAsync(new int[1], 1, 6);
            assertEquals(1, Work.any(List.of(never, late)), "receive that timed out");
            RuleChecks.fails(each -> late.await(), group, Code.TIMED_OUT);
            Thread.currentThread().interrupt();
            assertEquals(0, Work.any(List.of(never)), "receive that was interrupted");
            assertTrue(Thread.interrupted(), "interrupt flag");
            RuleChecks.fails(each -> never.await(), group, Code.INTERRUPTED);
            RuleChecks.works(group);
        });
    }

    /** Checks that a receive can be cancelled if no message has matched it. No other operation can be cancelled. */
    @Rule(
            value = 228,
            ranks = 2,
            needs = {ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES})
    default void anUnmatchedReceiveCanBeCancelled(ProcessGroup group) throws Exception {
        int peer = 1 - group.rank();
        for (int from : new int[] {peer, ProcessGroup.ANY_SOURCE, group.rank()}) {
            int[] untouched = {-6};
            Work cancelled = group.recvAsync(HostTensor.of(untouched), from, 4);
            int[] received = new int[1];
            Work next = group.recvAsync(HostTensor.of(received), peer, 4);
            cancelled(cancelled);
            group.barrier();

            Work send = group.sendAsync(HostTensor.of(new int[] {50 + group.rank()}), peer, 4);
            next.await();
            send.await();
            assertFalse(next.cancel(), "a receive that has its message was cancelled");
            assertFalse(send.cancel(), "a send was cancelled");
            assertEquals(50 + peer, received[0], "message of the next receive");
            assertEquals(-6, untouched[0], "memory of a cancelled receive");
        }
        Work barrier = group.barrierAsync();
        assertFalse(barrier.cancel(), "a barrier was cancelled");
        barrier.await();
        RuleChecks.works(group);
    }

    private static void cancelled(Work receive) throws Exception {
        assertTrue(receive.cancel(), "a receive that nothing has matched was not cancelled");
        assertTrue(receive.cancel() && receive.isDone(), "a cancelled receive has not ended");
        assertThrows(CancellationException.class, receive::await);
        Throwable end = receive.completion()
                .handle((nothing, failure) -> failure)
                .toCompletableFuture()
                .get(20, TimeUnit.SECONDS);
        boolean isCancellation =
                end instanceof CancellationException || end != null && end.getCause() instanceof CancellationException;
        assertTrue(isCancellation, () -> "end of a cancelled receive in its completion: " + end);
        assertTrue(receive.status().isEmpty(), "status of a cancelled receive");
    }
}
