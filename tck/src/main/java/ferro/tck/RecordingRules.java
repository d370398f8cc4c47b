package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.parts.CountedCalls;
import ferro.tck.parts.RecordedCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules 330 and 331, about the events of a group's calls in a recording of the JVM (JFR), and about their counters. */
public interface RecordingRules extends Subject {
    /**
     * Checks that a recording has one event for each call and each message of each rank. Each event lasts from the
     * submission of its call to the end of this call.
     *
     * @param folder folder for the recording
     * @throws IOException if the recording cannot be written or read
     */
    @Rule(330)
    @Test
    default void aJfrRecordingHasEachCallOnce(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("calls.jfr");
        try (Recording recording = new Recording()) {
            recording.enable(RecordedCalls.EVENT);
            recording.start();
            try (Ranks ranks = group(4)) {
                if (!records(ranks.rank(0), folder)) {
                    refused("flight recorder");
                    return;
                }
                ranks.run(this::calls);
                abort(ranks);
            }
            recording.stop();
            recording.dump(file);
        }
        check(RecordedCalls.in(file));
    }

    /**
     * Checks that the counters of a group have the number of its calls and the bytes of each rank, by kind. A refused or
     * failed call does not count. A new group has counters of its own.
     *
     * @param worldSize number of ranks
     */
    @Rule(331)
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    default void countersHaveTheCallsAndBytesOfEachKind(int worldSize) {
        try (Ranks ranks = group(worldSize)) {
            if (!CountedCalls.counts(ranks.rank(0))) {
                refused("call counters");
                return;
            }
            ranks.run(group -> {
                CountedCalls.run(group, 1, this::refuses);
                CountedCalls.run(group, 2, this::refuses);
                if (!refuses(BackendContract.SUBGROUPS)) {
                    CountedCalls.runOnAnotherGroup(group);
                }
            });
            CountDownLatch submitted = new CountDownLatch(1);
            ranks.run(group -> CountedCalls.runInVain(group, submitted));
        }
    }

    private static boolean records(ProcessGroup group, Path folder) throws IOException {
        try {
            group.writeFlightRecord(folder);
            return true;
        } catch (UnsupportedOperationException nothing) {
            return false;
        }
    }

    private void calls(ProcessGroup group) {
        int rank = group.rank();
        group.allReduce(new float[] {2, 3, 5, 7, rank}, ReduceOp.SUM);
        group.broadcastAsync(HostTensor.of(new long[] {4, 9, 2 * rank}), 2).await();
        if (rank == 0) {
            group.send(new byte[40], 3, 0);
        } else if (rank == 3) {
            group.recv(new byte[40], 0, 0);
        }
        if (!refuses(BackendContract.SUBGROUPS) && rank % 2 == 1) {
            try (ProcessGroup part = group.newGroup(3, 1)) {
                part.allReduce(new double[] {1, 2, 3, 4, 5, rank}, ReduceOp.MAX);
            }
        }
        if (averagesBytes()) {
            group.allReduce(HostTensor.of(new byte[] {1, 2, 3, 4, 5, 6, (byte) rank}), ReduceOp.AVG);
        }
    }

    private boolean averagesBytes() {
        return !refuses(BackendContract.INTEGER_AVERAGES) && !refuses("avg") && !refuses("i8");
    }

    /** Lets ranks 0, 1 and 3 wait in a barrier until rank 2 aborts the group. */
    private void abort(Ranks ranks) {
        CountDownLatch waiting = new CountDownLatch(3);
        CountDownLatch never = new CountDownLatch(1);
        ranks.outcomes(Ranks.LIMIT, group -> {
            if (group.rank() == 2) {
                Expect.opens(waiting, "ranks 0, 1 and 3 have not called");
                assertFalse(never.await(20, TimeUnit.MILLISECONDS), "a latch that no code opens is open");
                group.abort(new IllegalStateException("out of paper"));
            } else {
                Work pending = group.within(Duration.ofSeconds(20)).barrierAsync();
                waiting.countDown();
                Expect.fails(each -> pending.await(), group, Code.values());
            }
        });
    }

    private void check(RecordedCalls calls) {
        int[] all = {0, 1, 2, 3};
        String world = calls.groupOf("allReduce 1 20", all);
        checkSame(world, calls.groupOf("broadcast 2 24", all), "a broadcast");
        if (!refuses(BackendContract.ABORT_ACROSS_RANKS)) {
            // the engine does not see the messages of a back end without an abort across ranks
            checkSame(world, calls.groupOf("send -1 40", 0), "a send");
            checkSame(world, calls.groupOf("recv -1 40", 3), "a receive");
        }
        if (!refuses(BackendContract.SUBGROUPS)) {
            String part = calls.groupOf("allReduce 1 48", 0, 1);
            assertTrue(world.isEmpty() || !world.equals(part), "name of the subgroup of ranks 3 and 1: " + part);
        }
        if (averagesBytes()) {
            checkSame(world, calls.groupOf("allReduce 3 7", all), "an average");
        }
        if (!refuses(BackendContract.ABORT_ACROSS_RANKS)) {
            String failed = "barrier " + (averagesBytes() ? 4 : 3) + " 0 ABORTED";
            calls.groupOf(failed, 0, 1, 3);
            Duration took = calls.on(1, failed).getDuration();
            assertTrue(took.toMillis() >= 10, "a barrier that waited for at least 20 ms took " + took);
        }
    }

    /** Checks that two group names are equal, unless one is empty: JDK 17 loses a long name in some recordings. */
    private static void checkSame(String world, String found, String call) {
        assertTrue(
                world.isEmpty() || found.isEmpty() || world.equals(found),
                () -> "group of " + call + ": need " + world + ", found " + found);
    }
}
