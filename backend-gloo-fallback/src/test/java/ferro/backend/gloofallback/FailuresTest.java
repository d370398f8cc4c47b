package ferro.backend.gloofallback;

import static ferro.harness.Says.assertFailed;
import static ferro.harness.Says.assertFails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CallOptions;
import ferro.Collective;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroTransferException;
import ferro.ReduceOp;
import ferro.dispatch.DeviceMemory.Staging;
import ferro.group.ProcessGroup;
import ferro.spi.ForwardingContext;
import ferro.spi.RankContext;
import ferro.tck.HeapDeviceMemory;
import ferro.tck.HeapDeviceMemory.Direction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What happens when a copy, the network or a rank fails. */
class FailuresTest {
    private static final float[] TEN = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

    @ParameterizedTest(name = "refused at once: {0}, piece {1}")
    @CsvSource({"false, 1", "false, 3", "true, 1", "true, 3"})
    @DisplayName("0-11: a failure of the copy to the host arrives as it was thrown, and ends the other ranks")
    void failureOfTheCopyOutArrivesAsItIs(boolean refused, int piece) {
        try (DeviceGroup group = DeviceGroup.cut(3, 16)) {
            fail(group.heap(1), Direction.TO_HOST, piece, refused);
            List<Throwable> outcomes = group.outcomes(rank -> sum(group, rank));

            assertFailed(Code.NATIVE, outcomes.get(1), "by the test");
            for (int rank = 0; rank < 3; rank += 2) {
                FerroException told = assertFailed(Code.ABORTED, outcomes.get(rank));
                assertEquals(Set.of(1), told.where().culprits(), "whom rank " + rank + " blames");
            }
            settled(group);
        }
    }

    @Test
    void aRankWithoutAThreadFailsAllRanks() {
        try (DeviceGroup group = DeviceGroup.of(2)) {
            RankContext scarce = new ForwardingContext(group.context(1)) {
                @Override
                public Thread newThread(Runnable task, String name) {
                    throw new OutOfMemoryError("unable to create native thread: limits reached");
                }
            };
            List<Throwable> outcomes = group.outcomes(rank -> {
                Collective call = Collective.allReduce(group.tensor(rank, TEN), ReduceOp.SUM);
                RankContext context = rank == 1 ? scarce : group.context(0);
                new HostRoundTrip()
                        .submit(call, group.host(rank), context, CallOptions.of(Duration.ofSeconds(60)))
                        .await();
            });
            for (Throwable outcome : outcomes) {
                FerroException failure = assertFailed(Code.RESOURCE, outcome);
                assertEquals(Set.of(1), failure.where().culprits(), failure.toString());
                assertTrue(failure.getMessage().contains("cannot start a thread"), failure.getMessage());
            }
            settled(group);
        }
    }

    private static void fail(HeapDeviceMemory heap, Direction direction, int nth, boolean refused) {
        if (refused) {
            heap.refuseCopy(direction, nth);
        } else {
            heap.failCopy(direction, nth);
        }
    }

    private static DeviceTensor sum(DeviceGroup group, int rank) {
        DeviceTensor data = group.tensor(rank, TEN);
        group.group(rank).allReduce(data, ReduceOp.SUM);
        return data;
    }

    /** Nothing runs, and what was taken has been given back: a pool keeps it until its context ends. */
    private static void settled(DeviceGroup group) {
        for (int rank = 0; rank < group.size(); rank++) {
            assertEquals(0, group.heap(rank).runningCopies(), "running copies of rank " + rank);
        }
    }

    @Test
    @DisplayName("0-27 0-11: a failure of the collective arrives as it was thrown")
    void failureOfTheCollectiveArrivesAsItIs() {
        try (DeviceGroup group = DeviceGroup.of(2)) {
            List<Throwable> outcomes = group.outcomes(rank -> {
                group.group(rank).allReduce(group.tensor(rank, TEN), rank == 0 ? ReduceOp.SUM : ReduceOp.MAX);
            });
            for (Throwable outcome : outcomes) {
                assertFailed(Code.MISMATCH, outcome, "max");
            }
        }
    }

    @ParameterizedTest(name = "{0}, refused at once: {1}, piece {2}")
    @CsvSource({
        "allReduce, false, 1",
        "allReduce, false, 3",
        "allReduce, true, 2",
        "broadcast, false, 1",
        "broadcast, true, 2",
    })
    @DisplayName(
            "0-27 0-11 0-12: a failure of the copy back names op and direction, is an illegal argument, and hurts no other rank")
    void failureOfTheCopyBackIsWrappedAndTheGroupGoesOn(String kind, boolean refused, int piece) {
        try (DeviceGroup group = DeviceGroup.cut(2, 16)) {
            fail(group.heap(1), Direction.TO_DEVICE, piece, refused);
            List<Throwable> outcomes = group.outcomes(rank -> {
                DeviceTensor data = group.tensor(rank, TEN);
                if (kind.equals("broadcast")) {
                    group.group(rank).broadcast(data, 0);
                } else {
                    group.group(rank).allReduce(data, ReduceOp.SUM);
                }
            });
            assertNull(outcomes.get(0), "rank 0 has all it needs");
            FerroTransferException failure = assertInstanceOf(FerroTransferException.class, outcomes.get(1));
            assertInstanceOf(IllegalArgumentException.class, failure);
            assertTrue(failure.getMessage().startsWith(kind), failure.getMessage());
            assertTrue(failure.getMessage().contains("CPU->GPU transfer failed"), failure.getMessage());
            assertEquals(Code.NATIVE, ((FerroException) failure.getCause()).code());

            group.runAll(rank -> assertArrayEquals(
                    new float[] {2, 4, 6, 8, 10, 12, 14, 16, 18, 20}, group.floats(rank, sum(group, rank))));
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"TO_HOST", "TO_DEVICE"})
    void aCopyThatNeverEndsTimesOutAndFailsTheOtherRanks(String direction) {
        // on a slow machine a short limit ends before the copy has begun: such an attempt shows nothing
        assertTrue(
                LongStream.of(300, 2_000, 10_000).anyMatch(millis -> timesOutInACopy(direction, millis)),
                "no copy was running when its limit ended");
    }

    /** Returns whether the copy ran when the limit ended. */
    private static boolean timesOutInACopy(String direction, long limitMillis) {
        try (DeviceGroup group = DeviceGroup.cut(2, 16)) {
            HeapDeviceMemory heap = group.heap(0);
            heap.stallCopy(Direction.valueOf(direction), 2);
            List<Throwable> outcomes = group.outcomes(rank -> {
                DeviceTensor data = group.tensor(rank, TEN);
                Duration limit = rank == 0 ? Duration.ofMillis(limitMillis) : Duration.ofSeconds(20);
                ProcessGroup view = group.group(rank).labelled("loss").within(limit);
                view.allReduce(data, ReduceOp.SUM);
                // on the way back a rank may have all it needs; its next call tells
                view.allReduce(data, ReduceOp.SUM);
            });
            FerroException late = assertFailed(Code.TIMED_OUT, outcomes.get(0));
            if (heap.runningCopies() == 0) {
                return false;
            }
            assertTrue(late.getMessage().startsWith("allReduce \"loss\" through host memory"), late.getMessage());
            assertTrue(late.getMessage().contains("has not ended"), late.getMessage());
            assertEquals(
                    Set.of(0),
                    assertInstanceOf(FerroException.class, outcomes.get(1))
                            .where()
                            .culprits());

            assertNotHandedOut(group);
            heap.endStalledCopies();
            return true;
        }
    }

    /** Of three pieces of staging at least one is still in use: who takes three must get a new one. */
    private static void assertNotHandedOut(DeviceGroup group) {
        try (RoundTripState.RoundTripLease lease = RoundTripState.RoundTripLease.of(group.context(0))) {
            int before = group.heap(0).liveStagings();
            List<Staging> taken = new ArrayList<>();
            for (int number = 0; number < before; number++) {
                taken.add(lease.trips().pool().take(16));
            }
            assertTrue(group.heap(0).liveStagings() > before, "staging under a running copy was handed out");
            taken.forEach(Staging::close);
        }
    }

    @Test
    @DisplayName("0-11: an interrupt ends the group: INTERRUPTED with the flag set, ABORTED on the others")
    void interruptedWaitEndsTheGroup() {
        AtomicReference<Thread> waiting = new AtomicReference<>();
        try (DeviceGroup group = DeviceGroup.cut(2, 16)) {
            group.heap(0).stallCopy(Direction.TO_HOST, 2);
            group.heap(0).watch(event -> {
                boolean stalled = event.direction() == Direction.TO_HOST && event.number() == 2 && !event.ended();
                if (stalled) {
                    waiting.get().interrupt();
                }
            });
            group.runAll(rank -> {
                if (rank == 0) {
                    waiting.set(Thread.currentThread());
                    assertFails(Code.INTERRUPTED, () -> sum(group, 0));
                    assertTrue(Thread.interrupted(), "the flag was not set again");
                } else {
                    FerroException failure = assertFails(Code.ABORTED, () -> sum(group, 1));
                    assertEquals(Set.of(0), failure.where().culprits());
                }
            });
            group.heap(0).endStalledCopies();
        }
    }

    @Test
    void exhaustedStagingMemoryFailsAllRanks() {
        try (DeviceGroup group = DeviceGroup.of(2)) {
            group.heap(1).stagingCapacity(100);
            List<Throwable> outcomes = group.outcomes(rank -> sum(group, rank));
            assertFailed(Code.RESOURCE, outcomes.get(1));
            assertFailed(Code.ABORTED, outcomes.get(0));
        }
    }

    @Test
    void differentChunkSizesFailAllRanksBeforeDataMoves() {
        try (DeviceGroup coarse = DeviceGroup.cut(2, 16);
                DeviceGroup fine = DeviceGroup.with(1, Map.of("ferro.fallback.chunk", "20"))) {
            List<Throwable> outcomes = coarse.outcomes(rank -> {
                DeviceTensor data = coarse.tensor(rank, TEN);
                new HostRoundTrip()
                        .submit(
                                Collective.allReduce(data, ReduceOp.SUM),
                                coarse.host(rank),
                                rank == 0 ? coarse.context(0) : mixed(coarse, fine, data),
                                CallOptions.of(Duration.ofSeconds(20)))
                        .await();
            });
            for (Throwable outcome : outcomes) {
                assertFailed(Code.MISMATCH, outcome, "pieces of 4 to 5");
            }
            assertEquals(0, coarse.copies(Direction.TO_DEVICE), "copies back");
        }
    }

    /** The context of a rank whose setting differs, with the memory that its tensor lives in. */
    private static ferro.spi.RankContext mixed(DeviceGroup coarse, DeviceGroup fine, DeviceTensor data) {
        fine.context(0).release(ferro.dispatch.DeviceMemory.class);
        fine.context(0).shared(ferro.dispatch.DeviceMemory.class, coarse.heap(1)::opened);
        return fine.context(0);
    }

    @ParameterizedTest(name = "{0} against {1} elements")
    @CsvSource({"10, 11", "8, 12", "4, 40"})
    void differentLengthsFailAllRanksAndWriteNothing(int first, int second) {
        try (DeviceGroup group = DeviceGroup.cut(2, 16)) {
            group.runAll(rank -> {
                float[] given = new float[rank == 0 ? first : second];
                DeviceTensor data = group.tensor(rank, given);
                assertFails(Code.MISMATCH, () -> group.group(rank).allReduce(data, ReduceOp.MAX));
                assertArrayEquals(given, group.floats(rank, data), "memory of a call that differs");
            });
        }
    }

    @Test
    void differentLabelsAreAMismatchWithBothLabels() {
        try (DeviceGroup group = DeviceGroup.cut(2, 16)) {
            group.runAll(rank -> {
                ProcessGroup view = group.group(rank).labelled(rank == 0 ? "weight" : "bias");
                DeviceTensor data = group.tensor(rank, TEN);
                assertFails(
                        Code.MISMATCH,
                        () -> view.allReduce(data, ReduceOp.SUM),
                        "rank 0 allReduce \"weight\" ",
                        "rank 1 allReduce \"bias\" ");
            });
        }
    }
}
