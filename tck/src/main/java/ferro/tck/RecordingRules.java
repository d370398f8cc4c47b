package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Rules 330 and 331. Rule 330 is about events of a group's calls in a recording of the JVM (JFR). Rule 331 is about
 * counters.
 */
interface RecordingRules extends TestedBackend {
    /** Checks that a recording has one event for each call and each message of each rank. */
    @Rule(330)
    default void aJfrRecordingHasEachCallOnce(@TempDir Path folder) throws Throwable {
        String name = "ferro.Collective";
        Path file = folder.resolve("calls.jfr");
        try (Recording recording = new Recording()) {
            recording.enable(name);
            recording.start();
            try (Ranks ranks = group(4)) {
                if (!supports("flight recorder", () -> ranks.rank(0).writeFlightRecord(folder))) {
                    return;
                }
                ranks.run(this::calls);
                abort(ranks);
            }
            recording.stop();
            recording.dump(file);
        }
        check(RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals(name))
                .toList());
    }

    /** Checks that the counters of a group have the number of calls and the bytes of each rank, by kind of call. */
    @Rule(
            value = 331,
            ranks = {1, 3})
    default void countersHaveTheCallsAndBytesOfEachKind(int worldSize) throws Throwable {
        try (Ranks ranks = group(worldSize)) {
            if (!supports("call counters", ranks.rank(0)::counters)) {
                return;
            }
            ranks.run(group -> {
                CallCountCheck.run(group, 1, this::refuses);
                CallCountCheck.run(group, 2, this::refuses);
                if (!refuses(SUBGROUPS)) {
                    CallCountCheck.runOnAnotherGroup(group);
                }
            });
            CountDownLatch submitted = new CountDownLatch(1);
            ranks.run(group -> CallCountCheck.runInVain(group, submitted));
        }
    }

    /** Returns whether the back end supports a call. Counts a refusal if the back end does not support the call. */
    private boolean supports(String what, Executable call) throws Throwable {
        try {
            call.execute();
            return true;
        } catch (UnsupportedOperationException nothing) {
            refused(what);
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
        if (!refuses(SUBGROUPS) && rank % 2 == 1) {
            try (ProcessGroup part = group.newGroup(3, 1)) {
                part.allReduce(new double[] {1, 2, 3, 4, 5, rank}, ReduceOp.MAX);
            }
        }
        if (averagesBytes()) {
            group.allReduce(HostTensor.of(new byte[] {1, 2, 3, 4, 5, 6, (byte) rank}), ReduceOp.AVG);
        }
    }

    private boolean averagesBytes() {
        return !refuses(INTEGER_AVERAGES) && !refuses("avg") && !refuses("i8");
    }

    /** Makes ranks 0, 1 and 3 wait in a barrier until rank 2 aborts the group. */
    private void abort(Ranks ranks) {
        CountDownLatch waiting = new CountDownLatch(3);
        CountDownLatch never = new CountDownLatch(1);
        ranks.outcomes(Ranks.LIMIT, group -> {
            if (group.rank() == 2) {
                RuleChecks.opens(waiting, "ranks 0, 1 and 3 have not called");
                assertFalse(never.await(20, TimeUnit.MILLISECONDS), "a latch that no code opens is open");
                group.abort(new IllegalStateException("out of paper"));
            } else {
                Work pending = group.within(Duration.ofSeconds(20)).barrierAsync();
                waiting.countDown();
                RuleChecks.fails(each -> pending.await(), group, Code.values());
            }
        });
    }

    private void check(List<RecordedEvent> events) {
        int[] all = {0, 1, 2, 3};
        String world = groupOf(events, "allReduce 1 20", all);
        checkSame(world, groupOf(events, "broadcast 2 24", all), "a broadcast");
        if (!refuses(ABORT_ACROSS_RANKS)) {
            // the engine does not see the messages of a back end without an abort across ranks
            checkSame(world, groupOf(events, "send -1 40", 0), "a send");
            checkSame(world, groupOf(events, "recv -1 40", 3), "a receive");
        }
        if (!refuses(SUBGROUPS)) {
            String part = groupOf(events, "allReduce 1 48", 0, 1);
            assertTrue(world.isEmpty() || !world.equals(part), "name of the subgroup of ranks 3 and 1: " + part);
        }
        if (averagesBytes()) {
            checkSame(world, groupOf(events, "allReduce 3 7", all), "an average");
        }
        if (!refuses(ABORT_ACROSS_RANKS)) {
            String failed = "barrier " + (averagesBytes() ? 4 : 3) + " 0 ABORTED";
            groupOf(events, failed, 0, 1, 3);
            Duration took = eventsOf(events, failed).stream()
                    .filter(event -> event.getInt("rank") == 1)
                    .findFirst()
                    .orElseThrow()
                    .getDuration();
            assertTrue(took.toMillis() >= 10, "a barrier that waited for at least 20 ms took " + took);
        }
    }

    /**
     * Checks that two group names are equal, unless one name is empty, because JDK 17 loses long names in some
     * recordings.
     */
    private static void checkSame(String world, String found, String call) {
        assertTrue(
                world.isEmpty() || found.isEmpty() || world.equals(found),
                () -> "group of " + call + ": need " + world + ", found " + found);
    }

    /**
     * Checks that a call has exactly one event for each of the given ranks, and that all of these events have the same
     * group. Returns the name of the common group, or an empty text if the recording has lost the name. JDK 17 loses
     * texts of more than 16 characters that an earlier recording of the JVM had.
     */
    private static String groupOf(List<RecordedEvent> events, String call, int... ranks) {
        List<RecordedEvent> found = eventsOf(events, call);
        List<Integer> by =
                found.stream().map(event -> event.getInt("rank")).sorted().toList();
        assertEquals(
                IntStream.of(ranks).boxed().toList(), by, () -> "ranks with an event of " + call + " in " + events);
        List<String> groups = found.stream()
                .map(event -> event.getString("group"))
                .filter(Objects::nonNull)
                .distinct()
                .toList();
        assertTrue(groups.size() < 2, () -> "groups of " + call + ": " + groups);
        return groups.isEmpty() ? "" : groups.get(0);
    }

    /**
     * Returns the events of a call. The text {@code call} has the kind of the call, its number in the group (-1 for a
     * message), its bytes, and the code of its failure if the call failed. An example is {@code barrier 3 0 ABORTED}.
     */
    private static List<RecordedEvent> eventsOf(List<RecordedEvent> events, String call) {
        return events.stream()
                .filter(event -> call.equals((event.getString("operation") + " " + event.getLong("sequence") + " "
                                + event.getLong("bytes") + " " + event.getString("code"))
                        .strip()))
                .toList();
    }
}
