package ferro.backend.nccl.queue;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.nccl.Callers;
import ferro.harness.OnThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class DeviceThreadTest {
    private final CountDownLatch release = new CountDownLatch(1);
    private final DeviceThread thread = new DeviceThread("ferro-test-0-nccl", System::nanoTime);

    @AfterEach
    void end() {
        release.countDown();
        assertTrue(thread.close(Duration.ofSeconds(10)));
    }

    static Deadline soon() {
        return Deadline.after(Duration.ofSeconds(10), System::nanoTime);
    }

    /** Occupies the thread as a native call that does not come back would. */
    private DeviceCall<Void> stick() throws InterruptedException {
        CountDownLatch stuck = new CountDownLatch(1);
        DeviceCall<Void> call = thread.submit(() -> {
            stuck.countDown();
            boolean interrupted = false;
            while (release.getCount() > 0) {
                try {
                    release.await();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            assertFalse(interrupted, "a native call hears no interrupt, so none may be sent");
            return null;
        });
        assertTrue(stuck.await(10, TimeUnit.SECONDS));
        return call;
    }

    @Test
    @DisplayName("T6 decision 11: everything runs on one daemon platform thread, whoever calls")
    void oneThreadServesAllCallers() throws Exception {
        AtomicInteger differing = new AtomicInteger();
        Thread own = thread.call(Thread::currentThread, soon());
        assertNotSame(Thread.currentThread(), own);
        assertTrue(own.isDaemon());
        assertEquals("ferro-test-0-nccl", own.getName());
        Callers.manyAtOnce(64, caller -> {
            for (int i = 0; i < 20; i++) {
                if (thread.call(Thread::currentThread, soon()) != own) {
                    differing.incrementAndGet();
                }
            }
        });
        assertEquals(0, differing.get());
    }

    @Test
    void tasksRunInTheOrderOfTheirSubmission() throws Exception {
        List<Integer> seen = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            int number = i;
            thread.submit(() -> seen.add(number));
        }
        List<Integer> copy = thread.call(() -> List.copyOf(seen), soon());
        assertEquals(java.util.stream.IntStream.range(0, 100).boxed().toList(), copy);
    }

    @Test
    void anExceptionOfTheTaskReachesTheCallerUnchanged() throws Exception {
        for (Throwable thrown : List.of(new IllegalStateException("code 5"), new AssertionError("no such symbol"))) {
            Supplier<Void> task = () -> {
                if (thrown instanceof Error error) {
                    throw error;
                }
                throw (RuntimeException) thrown;
            };
            assertSame(thrown, OnThread.outcome(() -> thread.call(task, soon())));
        }
        assertEquals(7, thread.call(() -> 7, soon()), "the thread lives on");
    }

    @Test
    void aCallFromTheThreadItselfRunsAtOnce() throws Exception {
        int answer = thread.call(
                () -> {
                    try {
                        return thread.call(() -> 41, soon()) + 1;
                    } catch (TimeoutException | InterruptedException e) {
                        throw new IllegalStateException("it waited for itself", e);
                    }
                },
                soon());
        assertEquals(42, answer);
    }

    @Test
    void aThreadThatWouldWaitForItselfIsRefused() throws Exception {
        DeviceCall<Void> never = new Watched(() -> false);
        assertRefused(
                IllegalStateException.class,
                () -> thread.call(() -> thread.submit(never).result(), soon()),
                "ferro-test-0-nccl");
    }

    @Test
    void aTaskWhoseCallerTimedOutNeverRuns() throws Exception {
        stick();
        AtomicInteger runs = new AtomicInteger();
        assertRefused(
                TimeoutException.class,
                () -> thread.call(runs::incrementAndGet, Deadline.after(Duration.ofMillis(50), System::nanoTime)),
                "50 ms");
        release.countDown();
        thread.call(() -> null, soon());
        assertEquals(0, runs.get());
    }

    @Test
    void theDeadlineIsMeasuredByTheGivenClock() throws Exception {
        stick();
        AtomicLong now = new AtomicLong();
        Deadline aDay = Deadline.after(Duration.ofDays(1), now::get);
        CompletableFuture<Throwable> caller = new CompletableFuture<>();
        Callers.daemon(() ->
                caller.complete(assertThrows(TimeoutException.class, () -> thread.call(() -> null, aDay))));
        assertFalse(caller.isDone());
        now.set(Duration.ofDays(1).toNanos());
        assertTrue(caller.get(10, TimeUnit.SECONDS).getMessage().contains("86400000 ms"));
    }

    @Test
    void anInterruptedWaitRemovesItsTask() throws Exception {
        stick();
        AtomicInteger runs = new AtomicInteger();
        CompletableFuture<Throwable> caller = new CompletableFuture<>();
        Thread waiting = Callers.daemon(() -> caller.complete(
                assertThrows(InterruptedException.class, () -> thread.call(runs::incrementAndGet, soon()))));
        waiting.interrupt();
        caller.get(10, TimeUnit.SECONDS);
        release.countDown();
        thread.call(() -> null, soon());
        assertEquals(0, runs.get());
    }

    @Test
    void unfinishedWorkDelaysNoOtherTask() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        CountDownLatch passed = new CountDownLatch(1);
        DeviceCall<Void> slow = thread.submit(new Watched(() -> {
            looks.incrementAndGet();
            return passed.getCount() == 0;
        }));
        assertEquals(3, thread.call(() -> 3, soon()));
        assertFalse(slow.isEnded());
        passed.countDown();
        assertTrue(slow.await(soon()));
        assertTrue(looks.get() > 1, "looks: " + looks);
    }

    /** Such as an operation of a queue, which ends with its group. */
    @Test
    void workThatThrowsWhenIssuedIsNotPolled() throws Exception {
        int[] polls = new int[1];
        DeviceCall<Void> call = thread.submit(new DeviceCall<>() {
            @Override
            protected boolean issue() {
                throw new OutOfMemoryError("of the test");
            }

            @Override
            protected boolean over() {
                return ++polls[0] > 0;
            }

            @Override
            void end(Void value, Throwable thrown) {
                // goes on
            }
        });
        thread.call(() -> null, soon());
        assertFalse(call.isEnded());
        assertEquals(0, polls[0]);
    }

    @Test
    void aTaskStartsOnlyAfterTheOneBeforeWasIssued() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        List<String> order = new ArrayList<>();
        thread.submit(new DeviceCall<Void>() {
            @Override
            protected boolean issue() {
                order.add("try");
                return tries.incrementAndGet() == 200;
            }
        });
        List<String> seen = thread.call(
                () -> {
                    order.add("next");
                    return List.copyOf(order);
                },
                soon());
        assertEquals(201, seen.size());
        assertEquals(200, seen.indexOf("next"));
    }

    @Test
    void closeFailsWaitingTasksAndRefusesLaterOnes() throws Exception {
        DeviceCall<Void> running = stick();
        DeviceCall<Integer> waiting = thread.submit(() -> 5);
        assertFalse(thread.close(Duration.ofMillis(50)), "a stuck thread is left behind, not waited for");
        assertTrue(waiting.await(soon()));
        assertThrows(IllegalStateException.class, waiting::result);
        assertRefused(IllegalStateException.class, () -> thread.submit(() -> 6), "ferro-test-0-nccl is closed");
        release.countDown();
        assertTrue(running.await(soon()));
        assertTrue(thread.close(Duration.ofSeconds(10)), "it ends as soon as the call comes back");
    }

    @Test
    void closeEndsWorkThatIsStillPolled() throws Exception {
        DeviceCall<Void> watched = thread.submit(new Watched(() -> false));
        assertTrue(thread.close(Duration.ofSeconds(10)));
        assertTrue(watched.await(soon()));
        assertThrows(IllegalStateException.class, watched::result);
    }

    @Test
    void aTaskThatInterruptsItsThreadDoesNotStopTheThread() throws Exception {
        thread.call(
                () -> {
                    Thread.currentThread().interrupt();
                    return null;
                },
                soon());
        assertEquals(9, thread.call(() -> 9, soon()));
    }

    /** Something that is issued at once and over when somebody says so. */
    private static final class Watched extends DeviceCall<Void> {
        private final java.util.function.BooleanSupplier passed;

        Watched(java.util.function.BooleanSupplier passed) {
            this.passed = passed;
        }

        @Override
        protected boolean issue() {
            return true;
        }

        @Override
        protected boolean over() {
            return passed.getAsBoolean();
        }
    }
}
