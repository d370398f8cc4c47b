package ferro.training.checkpoint;

import static ferro.harness.Says.assertFailed;
import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.checkpoint.MessageExchange.ReportingStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A save and a load have the deadline of their group, and it counts from their last progress. */
class SaveProgressTest {
    private static final int RANKS = 3;
    private static final long TIMEOUT_SECONDS = 60;

    private final MemoryStorage memory = new MemoryStorage();

    /** What a storage does before it takes the next bytes of a file. */
    private interface BeforeBytes {
        void run() throws IOException;
    }

    /** A storage that takes one byte in a call, and waits before. */
    private static final class SlowStorage extends ForwardingStorage {
        private final BeforeBytes before;

        private SlowStorage(MemoryStorage memory, BeforeBytes before) {
            super(memory);
            this.before = before;
        }

        @Override
        public void write(String name, ObjectContent content) throws IOException {
            super.write(
                    name,
                    to -> content.writeTo(new WritableByteChannel() {
                        @Override
                        public int write(ByteBuffer bytes) throws IOException {
                            before.run();
                            int end = bytes.limit();
                            bytes.limit(Math.min(end, bytes.position() + 1));
                            int written = to.write(bytes);
                            bytes.limit(end);
                            return written;
                        }

                        @Override
                        public boolean isOpen() {
                            return to.isOpen();
                        }

                        @Override
                        public void close() throws IOException {
                            to.close();
                        }
                    }));
        }
    }

    private static Ranks ranks(int seconds) {
        return Ranks.over(Medium.SIMULATED, RANKS, Map.of("ferro.timeout", seconds + "s"));
    }

    private static void pass(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    /** Ranks 1 and 2 write for longer than the deadline of 3 s, in steps of different lengths. */
    @Test
    void aSaveWithProgressMayTakeLongerThanTheTimeout() {
        long longer = TimeUnit.MILLISECONDS.toNanos(3500);
        try (Ranks ranks = ranks(3)) {
            List<Duration> took = ranks.all(group -> {
                long begun = System.nanoTime();
                SlowStorage slow = new SlowStorage(memory, () -> {
                    if (group.rank() > 0 && System.nanoTime() - begun < longer) {
                        pass(TimeUnit.MILLISECONDS.toNanos(100L * group.rank()));
                    }
                });
                ToyModel model = ToyModel.on(group.rank(), RANKS).fill(1);
                try (Checkpoints checkpoints = Checkpoints.open(group, slow)) {
                    checkpoints.save(1, model.state());
                    model.fill(2);
                    checkpoints.load(model.state());
                    model.assertOf(1);
                }
                return Duration.ofNanos(System.nanoTime() - begun);
            });
            assertTrue(took.get(0).toNanos() > longer, took::toString);
        }
    }

    /** The storage of rank 1 stands still until the other ranks have failed. */
    @Test
    void aSaveFailsOnAllRanksIfTheStorageOfOneHangs() {
        CheckpointSettings settings = CheckpointSettings.DEFAULT.withDeadline(Duration.ofSeconds(2));
        CountDownLatch failed = new CountDownLatch(RANKS - 1);
        try (Ranks ranks = ranks(60)) {
            List<Throwable> failures = ranks.failures(group -> {
                SlowStorage slow = new SlowStorage(memory, () -> {
                    if (group.rank() == 1) {
                        await(failed);
                    }
                });
                try (Checkpoints checkpoints = Checkpoints.open(group, slow, settings)) {
                    checkpoints.save(1, ToyModel.on(group.rank(), RANKS).state());
                } finally {
                    failed.countDown();
                }
            });
            for (Throwable failure : failures) {
                assertTimedOut(failure);
            }
            assertTrue(memory.objects.keySet().stream().noneMatch(ObjectNames::isManifest), memory.objects::toString);
        }
    }

    /** As with a shared storage that stands still: no rank waits for another one. */
    @Test
    void aSaveFailsIfTheStorageOfAllRanksHangs() {
        CheckpointSettings settings = CheckpointSettings.DEFAULT.withDeadline(Duration.ofSeconds(2));
        try (Ranks ranks = ranks(60)) {
            List<Throwable> failures = ranks.failures(group -> {
                SlowStorage slow = new SlowStorage(memory, () -> pass(TimeUnit.MILLISECONDS.toNanos(2050)));
                try (Checkpoints checkpoints = Checkpoints.open(group, slow, settings)) {
                    checkpoints.save(1, ToyModel.on(group.rank(), RANKS).state());
                }
            });
            for (Throwable failure : failures) {
                assertSays(assertInstanceOf(FerroException.class, failure), "storage has made no progress ");
            }
            assertTrue(memory.objects.keySet().stream().noneMatch(ObjectNames::isManifest), memory.objects::toString);
        }
    }

    /** So a background save whose storage never comes back ends the wait of {@code close}. */
    @Test
    void aPausedRankIsDetectedWhileItsStorageHangs() {
        Ranks.run(Medium.SIMULATED, 1, group -> {
            MessageExchange messages =
                    new MessageExchange(group, Duration.ofMillis(50), new ReportingStorage(memory), "here");
            assertTrue(messages.failure().isEmpty());
            try {
                messages.exchange("saving step 1", () -> {
                    long begun = System.nanoTime();
                    while (messages.failure().isEmpty()
                            && System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS)) {
                        Thread.yield();
                    }
                    return Map.of();
                });
            } catch (FerroException failure) {
                assertSays(failure, "saving step 1 failed: rank 0 on host here or its storage has made no progress");
                return null;
            }
            throw new AssertionError("the exchange did not fail");
        });
    }

    /** The hashes of all tensors take several turns of 200 ms, and the hash of one takes much less. */
    @Test
    void aRankThatComparesManyTensorsReportsProgress() {
        HostTensor values = HostTensor.of(new float[1 << 20]);
        TrainingState state = TrainingState.of(IntStream.range(0, 1600)
                .mapToObj(number -> NamedTensor.of("tensor " + number, values, values.elementCount()))
                .toList());
        Ranks.run(Medium.SIMULATED, 1, group -> {
            MessageExchange messages =
                    new MessageExchange(group, Duration.ofMillis(3200), new ReportingStorage(memory), "here");
            SavePlan plan = SavePlan.of(
                    messages.exchange("x", () -> SavePlan.proposal(1, state, true, CheckpointSettings.DEFAULT)),
                    state.parameters());
            long before = group.counters().all().calls();
            new ReplicatedTensors(plan, state, 1).compare(messages, "x");
            // the last round, and the one that ends every contribution of this length, have two calls each
            long calls = group.counters().all().calls() - before;
            assertTrue(calls > 4, calls + " calls");
            return null;
        });
    }

    /** As if rank 1 was stopped before its part. */
    @Test
    void aMissingRankFailsTheSaveWithinTheTimeoutOfTheGroup() {
        CountDownLatch failed = new CountDownLatch(RANKS - 1);
        try (Ranks ranks = ranks(2)) {
            List<Throwable> failures = ranks.failures(group -> {
                try (Checkpoints checkpoints = Checkpoints.open(group, memory)) {
                    if (group.rank() == 1) {
                        await(failed);
                    } else {
                        checkpoints.save(1, ToyModel.on(group.rank(), RANKS).state());
                    }
                } finally {
                    failed.countDown();
                }
            });
            for (int rank : List.of(0, 2)) {
                assertTimedOut(failures.get(rank));
            }
        }
    }

    /** All tests that call it stop rank 1, and have a deadline of 2 s. */
    private static void assertTimedOut(Throwable failure) {
        FerroException late = assertFailed(FerroException.Code.TIMED_OUT, failure);
        assertEquals(Set.of(1), late.where().culprits(), late::toString);
        assertTrue(
                late.getMessage()
                        .startsWith("saving step 1 failed, because a rank or its storage has made no progress within"
                                + " 2000 ms: "),
                late::toString);
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            assertTrue(latch.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "the other ranks have not failed");
        } catch (InterruptedException interrupted) {
            throw new IOException("interrupted", interrupted);
        }
    }
}
