package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.collectives.plan.Algorithm;
import ferro.collectives.plan.Algorithm.Topology;
import ferro.collectives.plan.ChunkExtent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.Region;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Schedules cut fine still do what their plans do: run by an interpreter over arrays, one stream of numbers a link. */
class ScheduleTest {
    private static final int UNIT = 8;

    /** All ranks of one operation; sends put numbers on wires at once, receives take them as they come. */
    private static final class Interpreter {
        final List<Schedule> schedules = new ArrayList<>();
        final List<long[][]> memory = new ArrayList<>();
        final Map<Integer, Deque<Long>> wires = new HashMap<>();
        final int[][] done;

        Interpreter(List<Plan> plans, Schedule.Chunking cut) {
            for (Plan plan : plans) {
                Schedule schedule = new Schedule(plan, cut);
                schedules.add(schedule);
                memory.add(new long[][] {
                    new long[length(plan, cut, Region.IN)],
                    new long[length(plan, cut, Region.OUT)],
                    new long[(int) schedule.scratchElements]
                });
            }
            done = new int[plans.size()][2];
        }

        private static int length(Plan plan, Schedule.Chunking cut, Region region) {
            ChunkExtent extent = plan.extent(region);
            int chunks = plan.chunkCount();
            long end = cut.parts().start(region, extent.first() + extent.count(), chunks);
            return (int) (end - cut.parts().start(region, extent.first(), chunks))
                    * cut.parts().recordElements();
        }

        void run() {
            boolean moved = true;
            while (moved) {
                moved = false;
                for (int rank = 0; rank < schedules.size(); rank++) {
                    moved |= send(rank) | receive(rank);
                }
            }
            for (int rank = 0; rank < schedules.size(); rank++) {
                assertEquals(schedules.get(rank).sends.length, done[rank][0], "sends of rank " + rank);
                assertEquals(schedules.get(rank).receives.length, done[rank][1], "receives of rank " + rank);
            }
            wires.forEach((wire, left) -> assertTrue(left.isEmpty(), "left on wire " + wire));
        }

        private boolean isReady(int rank, Schedule.ScheduledPost[] posts, int index) {
            return index < posts.length
                    && posts[index].afterSends() <= done[rank][0]
                    && posts[index].afterReceives() <= done[rank][1];
        }

        private boolean send(int rank) {
            Schedule.ScheduledPost[] posts = schedules.get(rank).sends;
            int i = done[rank][0];
            if (!isReady(rank, posts, i)) {
                return false;
            }
            long[] from = memory.get(rank)[posts[i].region().ordinal()];
            for (long k = 0; k < posts[i].elements(); k++) {
                wire(rank, posts[i].peer()).add(from[(int) (posts[i].from() + k)]);
            }
            done[rank][0]++;
            return true;
        }

        private boolean receive(int rank) {
            Schedule.ScheduledPost[] posts = schedules.get(rank).receives;
            int i = done[rank][1];
            if (!isReady(rank, posts, i)) {
                return false;
            }
            boolean isLocal = posts[i].isLocal();
            if (!isLocal && wire(posts[i].peer(), rank).size() < posts[i].elements()) {
                return false;
            }
            long[] into = memory.get(rank)[posts[i].region().ordinal()];
            for (long k = 0; k < posts[i].elements(); k++) {
                int at = (int) (posts[i].from() + k);
                long value = isLocal
                        ? memory.get(rank)[posts[i].source().ordinal()][(int) (posts[i].sourceFrom() + k)]
                        : wire(posts[i].peer(), rank).remove();
                into[at] = posts[i].isCombine() ? into[at] + value : value;
            }
            done[rank][1]++;
            return true;
        }

        private Deque<Long> wire(int from, int to) {
            return wires.computeIfAbsent(from * 1000 + to, key -> new ArrayDeque<>());
        }
    }

    private static List<Plan> plans(CollectiveKind kind, String algorithm, int size, int root) {
        return IntStream.range(0, size)
                .mapToObj(rank -> Algorithm.of(kind, algorithm).plan(rank, size, root, null))
                .toList();
    }

    private static Interpreter interpret(
            CollectiveKind kind, String algorithm, int size, long elements, long scratchMost) {
        return interpret(kind, algorithm, size, ChunkLengths.equal(elements), scratchMost);
    }

    private static Interpreter interpret(
            CollectiveKind kind, String algorithm, int size, ChunkLengths parts, long scratchMost) {
        List<Plan> plans = plans(kind, algorithm, size, 0);
        int unit = UNIT * parts.recordElements();
        long scratch = plans.stream()
                .mapToLong(plan ->
                        parts.longest(plan.chunkCount()) * plan.scratch().count())
                .max()
                .orElseThrow();
        Interpreter all = new Interpreter(plans, Schedule.Chunking.of(parts, scratch, unit, 64, scratchMost));
        for (int rank = 0; rank < size; rank++) {
            long[] in = all.memory.get(rank)[Region.IN.ordinal()];
            for (int i = 0; i < in.length; i++) {
                in[i] = (rank + 2L) * (i + 3);
            }
        }
        all.run();
        return all;
    }

    @Test
    void ringAllReduceInSegmentsAddsUpForUnevenChunks() {
        for (int size = 1; size <= 6; size++) {
            for (String algorithm : Algorithm.names(CollectiveKind.ALL_REDUCE, Topology.FLAT)) {
                Interpreter all = interpret(CollectiveKind.ALL_REDUCE, algorithm, size, 1003, 1 << 20);
                long factor = (long) size * (size + 3) / 2;
                for (int rank = 0; rank < size; rank++) {
                    for (int i = 0; i < 1003; i++) {
                        assertEquals(
                                factor * (i + 3), all.memory.get(rank)[1][i], algorithm + " of " + size + " at " + i);
                    }
                }
            }
        }
    }

    @Test
    void reduceScatterInPassesIsRightWithLittleScratchMemory() {
        for (int size = 2; size <= 5; size++) {
            for (String algorithm : Algorithm.names(CollectiveKind.REDUCE_SCATTER, Topology.FLAT)) {
                long part = 217;
                Interpreter all = interpret(CollectiveKind.REDUCE_SCATTER, algorithm, size, size * part, 512);
                for (Schedule schedule : all.schedules) {
                    assertTrue(schedule.scratchElements * UNIT <= 512 + 2 * size * UNIT, algorithm);
                }
                assertReduced(all, ChunkLengths.equal(size * part), algorithm + " of " + size);
            }
        }
    }

    @Test
    void gatherInPassesJoinsTheInputsInRankOrder() {
        for (String algorithm : Algorithm.names(CollectiveKind.GATHER, Topology.FLAT)) {
            Interpreter all = interpret(CollectiveKind.GATHER, algorithm, 5, 5 * 101, 256);
            for (int i = 0; i < 5 * 101; i++) {
                assertEquals((i / 101 + 2L) * (i % 101 + 3), all.memory.get(0)[1][i], algorithm + " at " + i);
            }
        }
    }

    /** Empty parts, and parts of several segments. */
    private static long[] unequal(int size) {
        return IntStream.range(0, size)
                .mapToLong(rank -> rank % 3 == 1 ? 0 : 7L * rank + 1)
                .toArray();
    }

    @Test
    void unequalPartsAreGatheredByEveryAlgorithmInSegmentsAndPasses() {
        for (int size = 1; size <= 9; size++) {
            long[] counts = unequal(size);
            for (CollectiveKind kind : List.of(CollectiveKind.ALL_GATHER, CollectiveKind.GATHER)) {
                for (String algorithm : Algorithm.names(kind, Topology.FLAT)) {
                    for (long scratchMost : new long[] {1 << 20, 256}) {
                        Interpreter all = interpret(kind, algorithm, size, ChunkLengths.of(counts), scratchMost);
                        long[] out = all.memory.get(0)[Region.OUT.ordinal()];
                        assertArrayEquals(gathered(counts), out, kind + " by " + algorithm + " of " + size);
                    }
                }
            }
        }
    }

    private static long[] gathered(long[] counts) {
        return IntStream.range(0, counts.length)
                .boxed()
                .flatMap(rank -> LongStream.range(0, counts[rank]).mapToObj(i -> (rank + 2L) * (i + 3)))
                .mapToLong(Long::longValue)
                .toArray();
    }

    @Test
    void unequalPartsAreReducedByEveryAlgorithmInSegmentsAndPasses() {
        for (int size = 1; size <= 9; size++) {
            ChunkLengths parts = ChunkLengths.of(unequal(size));
            for (String algorithm : Algorithm.names(CollectiveKind.REDUCE_SCATTER, Topology.FLAT)) {
                for (long scratchMost : new long[] {1 << 20, 256}) {
                    Interpreter all = interpret(CollectiveKind.REDUCE_SCATTER, algorithm, size, parts, scratchMost);
                    assertReduced(all, parts, algorithm + " of " + size);
                }
            }
        }
    }

    @Test
    void segmentsAndPassesDoNotSplitRecords() {
        int record = 3;
        for (int size = 2; size <= 5; size++) {
            ChunkLengths equal = ChunkLengths.equal(41L * size * record).inRecords(record);
            ChunkLengths unequal = ChunkLengths.of(unequal(size)).times(record).inRecords(record);
            for (String algorithm : Algorithm.names(CollectiveKind.REDUCE_SCATTER, Topology.FLAT)) {
                for (ChunkLengths parts : List.of(equal, unequal)) {
                    String what = algorithm + " of " + size + ", equal parts: " + parts.areEqual();
                    Interpreter all = interpret(CollectiveKind.REDUCE_SCATTER, algorithm, size, parts, 256);
                    for (int rank = 0; rank < size; rank++) {
                        assertAreRecords(all.schedules.get(rank).sends, record, what);
                        assertAreRecords(all.schedules.get(rank).receives, record, what);
                    }
                    assertReduced(all, parts, what);
                }
            }
        }
    }

    /** Every rank has the sums of its part. */
    private static void assertReduced(Interpreter all, ChunkLengths parts, String what) {
        long size = all.schedules.size();
        for (int rank = 0; rank < size; rank++) {
            long start = parts.recordElements() * parts.start(Region.IN, rank, (int) size);
            long[] out = all.memory.get(rank)[Region.OUT.ordinal()];
            for (int i = 0; i < out.length; i++) {
                assertEquals(size * (size + 3) / 2 * (start + i + 3), out[i], what);
            }
        }
    }

    private static void assertAreRecords(Schedule.ScheduledPost[] posts, int record, String what) {
        for (int i = 0; i < posts.length; i++) {
            assertEquals(0, posts[i].from() % record, what + ": begin of post " + i);
            assertEquals(0, posts[i].sourceFrom() % record, what + ": begin of the source of post " + i);
            assertEquals(0, posts[i].elements() % record, what + ": length of post " + i);
        }
    }
}
