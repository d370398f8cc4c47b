package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;

/**
 * Receives that are cancelled while messages arrive, under every seed: each message is in a receive that was not cancelled, once
 * and in its order, and a cancelled receive is unchanged.
 */
@Timeout(1200)
class CancelledReceivesTest {
    private static final int RANKS = 3;
    private static final int EACH = 10;
    private static final int LARGE = 20_000;
    private static final int THREADED = 300;

    private final List<Posted> posted = new ArrayList<>();
    private int cancellations;

    /** A posted receive of rank 0. */
    private record Posted(Work work, int[] buffer) {}

    @Test
    void cancelledReceivesTakeNoMessage(TestReporter reporter) {
        AnySourceSeedsTest.seeds(reporter).forEach(this::exchange);
        assertTrue(cancellations > 0, "no receive was cancelled");
    }

    @Test
    void asynchronousCallsContinueAfterACancelDuringAReduction() {
        CountDownLatch reduces = new CountDownLatch(1);
        ReduceOp slow = ReduceOp.of("slow", (HostTensor left, HostTensor right) -> {
            reduces.countDown();
            LockSupport.parkNanos(100_000_000);
        });
        SimulatedBackend.run(2, Map.of("ferro.links", "tcp"), group -> {
            HostTensor one = HostTensor.of(new float[1]);
            Thread cancels = new Thread(() -> {
                while (group.rank() == 0 && reduces.getCount() > 0) {
                    Thread.onSpinWait();
                }
                group.recvAsync(HostTensor.of(new int[1]), 1 - group.rank(), 0).cancel();
            });
            cancels.start();
            group.submit(Collective.reduce(one, one, slow, 0)).await();
            cancels.join();
            Work sum = group.allReduceAsync(one, ReduceOp.SUM);
            // nobody waits in a call
            sum.completion().toCompletableFuture().get(20, TimeUnit.SECONDS);
        });
    }

    @Test
    void aGroupWithACancelledReceiveClosesNormally() {
        SimulatedBackend.run(2, group -> {
            assertTrue(group.recvAsync(HostTensor.of(new int[1]), 1 - group.rank(), 0)
                    .cancel());
            group.close(Duration.ofSeconds(2));
            assertEquals(Optional.empty(), group.failure());
        });
    }

    @Test
    void aReceiveIsEitherCancelledOrHasItsMessage() {
        ExecutorService other = Executors.newSingleThreadExecutor();
        try {
            SimulatedBackend.run(2, group -> {
                for (int number = 0; number < THREADED && group.rank() == 1; number++) {
                    group.send(new int[] {number}, 0, 0);
                }
                int received = 0;
                while (received < THREADED && group.rank() == 0) {
                    received += receiveOrCancel(group, received, other) ? 1 : 0;
                }
            });
        } finally {
            other.shutdownNow();
        }
    }

    /** Returns whether a receive has got the next message, while another thread cancels the receive. */
    private static boolean receiveOrCancel(ProcessGroup group, int next, ExecutorService other) throws Exception {
        int[] data = {-1};
        Work receive = group.recvAsync(HostTensor.of(data), ProcessGroup.ANY_SOURCE, 0);
        Future<Boolean> cancelling = other.submit(receive::cancel);
        boolean isReceived;
        try {
            receive.await();
            isReceived = true;
        } catch (CancellationException byOther) {
            isReceived = false;
        }
        assertEquals(!isReceived, cancelling.get(), "cancelled");
        assertEquals(isReceived ? next : -1, data[0], "memory of the receive");
        assertEquals(isReceived, receive.status().isPresent(), "status");
        return isReceived;
    }

    @Test
    void aReceiveOfAFailedGroupIsNotCancelled() {
        List<Boolean> isCancelled = new ArrayList<>();
        Simulation.of(2, 5)
                .mayFail()
                .onRank(0, group -> {
                    Work receive = group.recvAsync(HostTensor.of(new int[1]), ProcessGroup.ANY_SOURCE, 0);
                    receive.completion().whenComplete((nothing, failure) -> isCancelled.add(receive.cancel()));
                    group.abort(new IllegalStateException("for a test"));
                })
                .check(() -> assertEquals(List.of(false), isCancelled))
                .run();
    }

    private void exchange(long seed) {
        Random random = new Random(seed);
        posted.clear();
        Simulation.of(RANKS, seed)
                .onEveryRank(group -> {
                    if (group.rank() > 0) {
                        send(group);
                    } else {
                        for (int count = 0; count < EACH * (RANKS - 1); count++) {
                            post(group, random);
                        }
                    }
                })
                .check(this::check)
                .run();
    }

    private static void send(ProcessGroup group) {
        for (int number = 0; number < EACH; number++) {
            int[] data = new int[number % 3 == 0 ? LARGE : 2];
            data[0] = group.rank();
            data[1] = number + 1;
            group.sendAsync(HostTensor.of(data), 0, number % 2);
        }
    }

    /** Posts a receive, and cancels another one when the receive has ended; what is cancelled is posted again. */
    private void post(ProcessGroup group, Random random) {
        int[] buffer = new int[LARGE];
        Work work = group.recvUpToAsync(HostTensor.of(buffer), ProcessGroup.ANY_SOURCE, ProcessGroup.ANY_TAG);
        posted.add(new Posted(work, buffer));
        if (random.nextInt(4) == 0) {
            cancel(group, random);
        }
        work.completion().thenRun(() -> cancel(group, random));
    }

    private void cancel(ProcessGroup group, Random random) {
        Posted chosen = posted.get(random.nextInt(posted.size()));
        boolean isEnded = chosen.work.isDone();
        boolean isCancelled = chosen.work.cancel();
        if (isCancelled && !isEnded) {
            cancellations++;
            post(group, random);
        }
    }

    private void check() {
        int[][] last = new int[RANKS][2];
        int received = 0;
        for (Posted receive : posted) {
            if (receive.work.status().isEmpty()) {
                assertTrue(receive.work.cancel(), "a receive without a message was not cancelled");
                assertEquals(0, receive.buffer[1], "memory of a cancelled receive");
                continue;
            }
            int source = receive.work.status().get().source();
            int number = receive.buffer[1];
            assertEquals(source, receive.buffer[0], "sender of message " + number);
            assertTrue(last[source][number % 2] < number, "message " + number + " of rank " + source + " came late");
            last[source][number % 2] = number;
            received++;
        }
        assertEquals(EACH * (RANKS - 1), received, "messages");
    }
}
