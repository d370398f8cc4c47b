package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.CallCounters;
import ferro.CallCounters.Totals;
import ferro.Collective;
import ferro.CollectiveKind;
import ferro.CollectiveKind.DataShare;
import ferro.DataType;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.cells.CallFactory;
import ferro.tck.cells.Cell;
import ferro.tck.cells.CellCall;
import ferro.tck.cells.ReferenceOracle;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** Calls of every kind, with the values that the counters of a group must have after the calls. */
final class CallCountCheck {
    private static final int MESSAGE_BYTES = 40;
    private static final List<DataType> TYPES = List.of(DataType.INT8, DataType.FLOAT32, DataType.FLOAT64);

    private final ProcessGroup group;
    private final Predicate<String> refuses;
    private final int rank;
    private final int ranks;
    /** Number of bytes that this rank contributes by all calls of a kind. */
    private final Map<CollectiveKind, Long> bytes = new EnumMap<>(CollectiveKind.class);

    private final Map<CollectiveKind, Integer> calls = new EnumMap<>(CollectiveKind.class);
    private long sent;
    private long received;

    private CallCountCheck(ProcessGroup group, Predicate<String> refuses) {
        this.group = group;
        this.refuses = refuses;
        this.rank = group.rank();
        this.ranks = group.worldSize();
    }

    /** Makes calls of every kind for the first, second, or a later time in a group, and compares the counters. */
    static void run(ProcessGroup group, int times, Predicate<String> refuses) {
        CallCounters before = group.counters();
        CallCountCheck made = new CallCountCheck(group, refuses);
        made.arrays();
        made.submitted();
        made.largeAndInABlock();
        made.messages();
        CallCounters after = group.counters();
        made.compare("the calls of time " + times, after.minus(before), 1);
        made.compare("all calls", after, times);
    }

    /** Makes a call on another group of the same ranks, and compares the counters of both groups. */
    static void runOnAnotherGroup(ProcessGroup group) {
        CallCounters before = group.counters();
        int[] all = IntStream.range(0, group.worldSize()).toArray();
        try (ProcessGroup other = group.newGroup(all)) {
            assertEquals(0, other.counters().all().calls(), "calls of a new group");
            other.labelled("counted").allReduce(new long[] {3, 5, 7}, ReduceOp.MAX);
            assertEquals(24, other.counters().of(CollectiveKind.ALL_REDUCE).bytes(), "bytes of the new group");
            assertEquals(1, other.counters().all().calls(), "calls of the new group");
        }
        assertEquals(before, group.counters(), "the counters of a group after calls of another group");
    }

    /**
     * Makes a call that is refused, a call that fails in flight, and a call of a failed group, and compares the
     * counters. All ranks have the same latch, so that no rank fails the group before the call of rank 0 is in flight.
     */
    static void runInVain(ProcessGroup group, CountDownLatch submitted) {
        CallCounters before = group.counters();
        assertThrows(
                IllegalArgumentException.class,
                () -> group.allGather(new int[2], new int[2 * group.worldSize() + 1]),
                "an output of a wrong length");
        if (group.rank() == 0 && group.worldSize() > 1) {
            Work inFlight = group.barrierAsync();
            submitted.countDown();
            group.abort(new IllegalStateException("no more calls"));
            assertThrows(FerroException.class, inFlight::await, "a barrier that no other rank has called");
        } else {
            if (group.rank() > 0) {
                RuleChecks.opens(submitted, "rank 0 has not called");
            }
            group.abort(new IllegalStateException("no more calls"));
        }
        assertThrows(FerroException.class, group::barrier, "a barrier of a failed group");
        assertEquals(before, group.counters(), "the counters after calls that did not succeed");
    }

    /** Makes calls of arrays, with elements of 1, 2, 4 and 8 bytes. */
    private void arrays() {
        int root = ranks - 1;
        counted(CollectiveKind.ALL_REDUCE, 20, () -> group.allReduce(new float[5], ReduceOp.SUM));
        counted(CollectiveKind.BROADCAST, rank == 0 ? 16 : 0, () -> group.broadcast(new int[4], 0));
        counted(CollectiveKind.REDUCE, 16, () -> group.reduce(new double[2], ReduceOp.SUM, root));
        counted(CollectiveKind.ALL_GATHER, 3, () -> group.allGather(new byte[3], new byte[3 * ranks]));
        counted(
                CollectiveKind.REDUCE_SCATTER,
                8L * ranks,
                () -> group.reduceScatter(new float[2 * ranks], new float[2], ReduceOp.SUM));
        counted(CollectiveKind.GATHER, 4, () -> group.gather(new int[1], rank == 0 ? new int[ranks] : null, 0));
        counted(
                CollectiveKind.SCATTER,
                rank == 0 ? 8L * ranks : 0,
                () -> group.scatter(rank == 0 ? new long[ranks] : null, new long[1], 0));
        counted(CollectiveKind.ALL_TO_ALL, 4L * ranks, () -> group.allToAll(new int[ranks], new int[ranks]));
        counted(CollectiveKind.SCAN, 6, () -> group.scan(new short[3], ReduceOp.SUM));
        counted(CollectiveKind.BARRIER, 0, group::barrier);
    }

    private void counted(CollectiveKind kind, long contributed, Runnable call) {
        if (!refuses.test(kind.label())) {
            call.run();
            count(kind, 1, contributed);
        }
    }

    /** Submits a call of each kind, and a call with unequal parts, which a back end may refuse. */
    private void submitted() {
        for (CollectiveKind kind : CollectiveKind.values()) {
            DataType type = TYPES.get(kind.ordinal() % TYPES.size());
            Cell cell = new Cell(kind, type, ReduceOp.MAX, 3 + kind.ordinal(), ranks - 1, false);
            int parts = kind.in() == DataShare.PART || !kind.hasParts() ? 1 : ranks;
            submit(cell, kind.in().has(rank == cell.root()) ? parts * cell.length() : 0);
        }
        // the part of every third rank is empty
        int own = rank % 3 == 1 ? 0 : 3 * (rank + 1);
        submit(new Cell(CollectiveKind.ALL_GATHER, DataType.INT32, null, 3, 0, false, true), own);
    }

    private void submit(Cell cell, long elements) {
        Collective call = CellCall.of(cell, rank, ranks, 0, new ReferenceOracle(cell.type(), ranks))
                .call();
        boolean mayRefuse = cell.unequal() || refuses.test(cell.kind().label());
        if (!mayRefuse || CallFactory.unsupported(group, call).isEmpty()) {
            group.submit(call).await();
            count(cell.kind(), 1, elements * cell.type().byteSize());
        }
    }

    private void count(CollectiveKind kind, int number, long contributed) {
        calls.merge(kind, number, Integer::sum);
        bytes.merge(kind, contributed, Long::sum);
    }

    private void largeAndInABlock() {
        if (!refuses.test(CollectiveKind.ALL_REDUCE.label())) {
            group.allReduce(new double[3000], ReduceOp.SUM);
            HostTensor small = HostTensor.of(new int[] {3});
            HostTensor other = HostTensor.of(new int[] {3, 5, 7});
            group.coalesced(() -> {
                group.allReduce(small, ReduceOp.SUM);
                group.allReduce(other, ReduceOp.SUM);
            });
            count(CollectiveKind.ALL_REDUCE, 3, 8 * 3000 + 4 + 12);
        }
    }

    private void messages() {
        ByteBuffer buffer = ByteBuffer.allocate(2 * MESSAGE_BYTES).position(MESSAGE_BYTES);
        if (ranks > 1 && rank == 0) {
            group.send(new byte[MESSAGE_BYTES], 1, 0);
            group.backend().send(buffer, 1);
            sent += 2 * MESSAGE_BYTES;
        } else if (rank == 1) {
            group.recv(new byte[MESSAGE_BYTES], 0, 0);
            group.backend().recv(buffer, 0);
            received += 2 * MESSAGE_BYTES;
        }
    }

    private void compare(String what, CallCounters found, int times) {
        calls.forEach((kind, number) -> {
            Totals totals = found.of(kind);
            assertEquals(times * (long) number, totals.calls(), what + ": number of calls of " + kind);
            assertEquals(times * bytes.get(kind), totals.bytes(), what + ": bytes of " + kind);
        });
        assertEquals(calls.keySet(), found.collectives().keySet(), what + ": kinds");
        assertMessages(what + ": sends", times * sent, found.sends());
        assertMessages(what + ": receives", times * received, found.receives());
    }

    private static void assertMessages(String what, long expected, Totals found) {
        assertEquals(expected, found.bytes(), what + ", bytes");
        assertEquals(expected / MESSAGE_BYTES, found.calls(), what + ", calls");
    }
}
