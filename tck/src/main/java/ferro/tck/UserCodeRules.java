package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.tck.cells.Calls;
import ferro.tck.cells.Operand;
import ferro.tck.cells.OrderedRecords;
import ferro.tck.cells.OrderedRecords.OrderedCall;
import ferro.tck.cells.UserCode;
import ferro.tck.cells.UserRecords;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rules 118, 119, 125, 126, 129 and 130, about user-defined reductions. A back end may refuse such reductions. */
public interface UserCodeRules extends Subject {
    /**
     * Checks that user-defined reductions work in every form, for every length and in every kind of memory.
     *
     * @param worldSize number of ranks
     */
    @Rule(118)
    @EachSize
    default void aUsersCodeCombinesTheElementsOfAllRanksWithTheSameBits(int worldSize) {
        int[] lengths = {1, worldSize + 1, 1_031, worldSize <= 3 ? 140_001 : 9_001};
        List<ReduceOp> ops = UserCode.forms();
        long[][] hashes = new long[worldSize][lengths.length * (ops.size() + 1)];
        eachRank(worldSize, group -> {
            int call = 0;
            for (int length : lengths) {
                for (ReduceOp op : ops) {
                    Operand data = UserCode.operand(group.rank(), length, call);
                    boolean done = isDone(group, data, op);
                    if (done) {
                        UserCode.check(data, new Calls.RankSpan(0, worldSize), group.rank());
                    }
                    hashes[group.rank()][call++] = done ? Cells.hash(data) : 0;
                }
                Operand rounded = UserCode.operand(group.rank(), length, call);
                boolean done = isDone(group, rounded, UserCode.ROUNDING);
                hashes[group.rank()][call++] = done ? Cells.hash(rounded) : 0;
            }
            Expect.works(group);
        });
        for (int call = 0; call < hashes[0].length; call++) {
            for (int rank = 1; rank < worldSize; rank++) {
                assertEquals(hashes[0][call], hashes[rank][call], "bits of call " + call + " on ranks 0 and " + rank);
            }
        }
    }

    /**
     * Checks that a user-defined reduction combines the operands of the right ranks in scans, and that an exclusive scan
     * leaves the operand of rank 0 unchanged. Checks that a scan with AVG is refused before data moves.
     *
     * @param worldSize number of ranks
     */
    @Rule(129)
    @EachSize
    default void scansTakeAUsersCodeAndRefuseAverages(int worldSize) {
        eachRank(worldSize, group -> {
            int rank = group.rank();
            int number = 0;
            boolean isDone = true;
            for (int length : new int[] {0, 1, 1000, aboveASegment()}) {
                for (ReduceOp op : UserCode.forms()) {
                    for (CollectiveKind kind : Calls.kinds(CollectiveKind::isScan)) {
                        Operand data = UserCode.operand(rank, length, number++);
                        isDone = isDone(group, scan(kind, data.tensor(), op));
                        if (isDone) {
                            UserCode.check(data, Calls.combined(kind, rank, worldSize), rank);
                        }
                    }
                }
            }
            HostTensor data = HostTensor.of(new float[] {3});
            for (CollectiveKind kind : isDone ? Calls.kinds(CollectiveKind::isScan) : List.<CollectiveKind>of()) {
                Collective average = scan(kind, data, ReduceOp.AVG);
                assertThrows(IllegalArgumentException.class, () -> group.submit(average));
            }
            Expect.works(group);
        });
    }

    private static Collective scan(CollectiveKind kind, HostTensor data, ReduceOp op) {
        return Calls.of(kind, data, data, op, -1);
    }

    /** Checks that a user-defined reduction for another element type is refused before data moves. */
    @Rule(119)
    @Test
    default void aUsersCodeForAnotherTypeIsRefusedBeforeAnythingMoves() {
        eachRank(2, group -> {
            ReduceOp op = UserCode.forms().get(0);
            int[] ints = {5, 6};
            Collective call = Collective.allReduce(HostTensor.of(ints), HostTensor.of(ints), op);
            Operand floats = UserCode.operand(group.rank(), 2, 0);
            if (isDone(group, floats, op)) {
                String need = DataType.FLOAT32.label();
                String found = DataType.INT32.label();
                Expect.refused(IllegalArgumentException.class, () -> Calls.run(group, call), op.name(), need, found);
                assertEquals(6, ints[1], "a refused call wrote to memory");
            }
            Expect.works(group);
        });
    }

    /**
     * Checks that a user-defined reduction of records gets whole records, in every reduction, for records of any size, in
     * parts of equal and unequal length, and above a segment.
     *
     * @param worldSize number of ranks
     */
    @Rule(125)
    @EachSize
    default void aUsersCodeGetsFullRecords(int worldSize) {
        int[] sizes = {1, 3, 24, 100, 4_099, 1 << 16};
        eachRank(worldSize, group -> {
            int number = 0;
            for (int size : sizes) {
                UserRecords records = new UserRecords(size, worldSize, group.rank());
                for (int count : counts(size, worldSize)) {
                    for (UserRecords.RecordCall made : records.calls(count, number++)) {
                        if (isDone(group, made.call())) {
                            records.check(made);
                        }
                    }
                }
            }
            Expect.works(group);
        });
    }

    /**
     * Checks that an ordered op, which does not commute, combines the operands in the order of the ranks, in every reduction
     * and scan.
     *
     * @param worldSize number of ranks
     */
    @Rule(130)
    @EachSize
    default void anOrderedReductionCombinesInTheOrderOfTheRanks(int worldSize) {
        eachRank(worldSize, group -> {
            int root = 0;
            for (OrderedRecords records : OrderedRecords.values()) {
                int many = worldSize <= 3 ? 5 * segmentBytes() / 4 / records.bytes() : 40;
                for (int count : new int[] {0, 1, 37, many}) {
                    for (OrderedCall made : records.calls(group.rank(), worldSize, count, root++ % worldSize)) {
                        if (isDone(group, made.call())) {
                            String where = " of " + count + " " + records + " on rank " + group.rank();
                            assertNull(made.wrong(), where);
                        }
                    }
                }
            }
            Expect.works(group);
        });
    }

    private int[] counts(int recordBytes, int worldSize) {
        if (recordBytes > 1_000) {
            // the time of a call grows with the bytes of all ranks
            return recordBytes > 10_000 && worldSize > 3 ? new int[] {0, 1} : new int[] {0, 1, 2};
        }
        boolean isLong = recordBytes == 24 && worldSize <= 3;
        return new int[] {0, 1, 37, isLong ? 5 * segmentBytes() / 4 / recordBytes : 2};
    }

    /** Checks that an operand or a part that is no multiple of a record is refused before data moves. */
    @Rule(126)
    @Test
    default void aPartOfARecordIsRefusedBeforeAnythingMoves() {
        eachRank(3, group -> {
            ReduceOp op = new UserRecords(24, 3, group.rank()).op();
            HostTensor full = HostTensor.of(new byte[24]);
            if (isDone(group, Collective.allReduce(full, full, op))) {
                HostTensor odd = HostTensor.of(new byte[100]);
                HostTensor three = HostTensor.of(new byte[72]);
                refuses(group, "input has 100 bytes", Collective.allReduce(odd, odd, op));
                refuses(group, "input has 100 bytes", Collective.reduce(odd, odd, op, 1));
                HostTensor third = HostTensor.of(new byte[8]);
                refuses(group, "output has 8 bytes", Collective.reduceScatter(full, third, op));
                // the part of rank 0 is a whole record, and rank 0 must refuse the call as the other ranks do
                long[] counts = {24, 20, 28};
                HostTensor part = HostTensor.of(new byte[(int) counts[group.rank()]]);
                String need = group.rank() == 0 ? "counts[1] has 20" : "output has " + counts[group.rank()];
                refuses(group, need + " bytes", Collective.reduceScatter(three, part, op, counts));
                HostTensor ints = HostTensor.of(new int[6]);
                refuses(group, "accepts only i8 and u8", Collective.allReduce(ints, ints, op));
            }
            Expect.works(group);
        });
    }

    private static void refuses(ProcessGroup group, String need, Collective call) {
        Expect.refused(IllegalArgumentException.class, () -> Calls.run(group, call), need, "long integers");
    }

    private boolean isDone(ProcessGroup group, Operand data, ReduceOp op) {
        return isDone(group, Collective.allReduce(data.tensor(), data.tensor(), op));
    }

    private boolean isDone(ProcessGroup group, Collective call) {
        if (Cells.isRefused(this, group, call, "users' reductions")) {
            return false;
        }
        Calls.run(group, call);
        return true;
    }
}
