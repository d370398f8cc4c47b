package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.tck.cells.CallFactory;
import ferro.tck.cells.Cell;
import ferro.tck.cells.CellCall;
import ferro.tck.cells.Oracle;
import ferro.tck.cells.RecordOracle;
import ferro.tck.cells.UserReductions;
import java.util.List;

/** Rules 118, 119, 125, 126, 129, 130, about user-defined reductions. A back end may refuse user-defined reductions. */
interface UserCodeRules extends TestedBackend {
    /** Checks that user-defined reductions work in every form, for every length and in every kind of memory. */
    @Rule(118)
    default void aUsersCodeCombinesTheElementsOfAllRanksWithTheSameBits(int worldSize) {
        int[] lengths = {1, worldSize + 1, 1_031, worldSize <= 3 ? 140_001 : 9_001};
        long[][] hashes = new long[worldSize][lengths.length];
        eachRank(worldSize, group -> {
            for (int number = 0; number < lengths.length; number++) {
                // each form is combined with each kind of memory, at one length
                int memory = number;
                int length = lengths[number];
                for (ReduceOp op : UserReductions.forms()) {
                    isDone(group, reduction(CollectiveKind.ALL_REDUCE, length, op), UserReductions.LARGEST, memory++);
                }
                Cell cell = reduction(CollectiveKind.ALL_REDUCE, length, UserReductions.ROUNDING);
                CellCall rounded = CellCall.of(cell, group.rank(), worldSize, memory, UserReductions.LARGEST);
                hashes[group.rank()][number] = isDone(group, rounded.call()) ? CellRunner.hash(rounded.out()) : 0;
            }
            RuleChecks.works(group);
        });
        for (int rank = 1; rank < worldSize; rank++) {
            assertArrayEquals(hashes[0], hashes[rank], "bits of rounded results on ranks 0 and " + rank);
        }
    }

    private static Cell reduction(CollectiveKind kind, int length, ReduceOp op) {
        return new Cell(kind, DataType.FLOAT32, op, length, 0, true);
    }

    /** Checks that a user-defined reduction combines the right operands in scans, and that scans refuse averages. */
    @Rule(129)
    default void scansTakeAUsersCodeAndRefuseAverages(ProcessGroup group) {
        int number = 0;
        boolean isDone = true;
        for (int length : new int[] {0, 1, 1000, aboveASegment()}) {
            for (ReduceOp op : UserReductions.forms()) {
                for (CollectiveKind kind : CallFactory.kinds(CollectiveKind::isScan)) {
                    isDone = isDone(group, reduction(kind, length, op), UserReductions.LARGEST, number++);
                }
            }
        }
        HostTensor data = HostTensor.of(new float[] {3});
        for (CollectiveKind kind : isDone ? CallFactory.kinds(CollectiveKind::isScan) : List.<CollectiveKind>of()) {
            Collective average = CallFactory.of(kind, data, data, ReduceOp.AVG, -1);
            assertThrows(IllegalArgumentException.class, () -> group.submit(average));
        }
        RuleChecks.works(group);
    }

    /** Checks that a user-defined reduction for another element type is refused before data moves. */
    @Rule(value = 119, ranks = 2)
    default void aUsersCodeForAnotherTypeIsRefusedBeforeAnythingMoves(ProcessGroup group) {
        ReduceOp op = UserReductions.forms().get(0);
        int[] ints = {5, 6};
        Collective call = Collective.allReduce(HostTensor.of(ints), HostTensor.of(ints), op);
        if (isDone(group, reduction(CollectiveKind.ALL_REDUCE, 2, op), UserReductions.LARGEST, 0)) {
            String need = DataType.FLOAT32.label();
            String found = DataType.INT32.label();
            RuleChecks.refused(
                    IllegalArgumentException.class, () -> CallFactory.run(group, call), op.name(), need, found);
            assertEquals(6, ints[1], "a refused call wrote to memory");
        }
        RuleChecks.works(group);
    }

    /** Checks that a user-defined reduction of records of any size gets complete records, in every reduction. */
    @Rule(125)
    default void aUsersCodeGetsFullRecords(ProcessGroup group) {
        int number = 0;
        for (int size : new int[] {1, 3, 24, 100, 4_099, 1 << 16}) {
            RecordOracle records = RecordOracle.integers(size);
            for (int count : counts(size, group.worldSize())) {
                for (Cell cell : records.cells(count, group.worldSize() - 1)) {
                    isDone(group, cell, records, number++);
                }
                // the number of cells equals the number of kinds of memory, so otherwise each cell would have one kind
                number++;
            }
        }
        RuleChecks.works(group);
    }

    /** Checks that an ordered op combines the operands in the order of the ranks, in every reduction and scan. */
    @Rule(130)
    default void anOrderedReductionCombinesInTheOrderOfTheRanks(ProcessGroup group) {
        int number = 0;
        int root = 0;
        for (RecordOracle records : RecordOracle.ORDERED) {
            int many = group.worldSize() <= 3 ? 5 * segmentBytes() / 4 / records.bytes() : 40;
            for (int count : new int[] {0, 1, 37, many}) {
                for (Cell cell : records.cells(count, root++ % group.worldSize())) {
                    isDone(group, cell, records, number++);
                }
            }
        }
        RuleChecks.works(group);
    }

    private int[] counts(int recordBytes, int worldSize) {
        if (recordBytes > 1_000) {
            // the time of a call grows with the bytes of all ranks
            return recordBytes > 10_000 && worldSize > 3 ? new int[] {0, 1} : new int[] {0, 1, 2};
        }
        boolean isLong = recordBytes == 24 && worldSize <= 3;
        return new int[] {0, 1, 37, isLong ? 5 * segmentBytes() / 4 / recordBytes : 2};
    }

    /** Checks that an operand or a part that is not a multiple of a record is refused before data moves. */
    @Rule(value = 126, ranks = 3)
    default void aPartOfARecordIsRefusedBeforeAnythingMoves(ProcessGroup group) {
        ReduceOp op = RecordOracle.integers(24).op();
        HostTensor full = HostTensor.of(new byte[24]);
        if (isDone(group, Collective.allReduce(full, full, op))) {
            HostTensor odd = HostTensor.of(new byte[100]);
            HostTensor three = HostTensor.of(new byte[72]);
            refuses(group, "input has 100 bytes", Collective.allReduce(odd, odd, op));
            refuses(group, "input has 100 bytes", Collective.reduce(odd, odd, op, 1));
            HostTensor third = HostTensor.of(new byte[8]);
            refuses(group, "output has 8 bytes", Collective.reduceScatter(full, third, op));
            // the part of rank 0 is a complete record, and rank 0 must refuse the call as the other ranks do
            long[] counts = {24, 20, 28};
            HostTensor part = HostTensor.of(new byte[(int) counts[group.rank()]]);
            String need = group.rank() == 0 ? "counts[1] has 20" : "output has " + counts[group.rank()];
            refuses(group, need + " bytes", Collective.reduceScatter(three, part, op, counts));
            HostTensor ints = HostTensor.of(new int[6]);
            refuses(group, "accepts only i8 and u8", Collective.allReduce(ints, ints, op));
        }
        RuleChecks.works(group);
    }

    private static void refuses(ProcessGroup group, String need, Collective call) {
        RuleChecks.refused(IllegalArgumentException.class, () -> CallFactory.run(group, call), need, "long integers");
    }

    /** Makes the call of a cell on one rank, unless the back end refuses the call. Fails if the result is wrong. */
    private boolean isDone(ProcessGroup group, Cell cell, Oracle oracle, int number) {
        CellCall made = CellCall.of(cell, group.rank(), group.worldSize(), number, oracle);
        boolean isDone = isDone(group, made.call());
        if (isDone) {
            assertNull(made.wrong(), () -> cell + " on rank " + group.rank());
        }
        return isDone;
    }

    private boolean isDone(ProcessGroup group, Collective call) {
        if (CellRunner.isRefused(this, group, call, "users' reductions")) {
            return false;
        }
        CallFactory.run(group, call);
        return true;
    }
}
