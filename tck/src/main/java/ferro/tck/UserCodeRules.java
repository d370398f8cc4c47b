package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.tck.cells.Operand;
import ferro.tck.cells.UserCode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rules 118 and 119, about user-defined reductions. A back end may refuse such reductions. */
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
        try (Ranks ranks = group(worldSize)) {
            ranks.run(group -> {
                int call = 0;
                for (int length : lengths) {
                    for (ReduceOp op : ops) {
                        Operand data = UserCode.operand(group.rank(), length, call);
                        boolean done = isDone(group, data, op);
                        if (done) {
                            UserCode.check(data, worldSize, group.rank());
                        }
                        hashes[group.rank()][call++] = done ? Cells.hash(data) : 0;
                    }
                    Operand rounded = UserCode.operand(group.rank(), length, call);
                    boolean done = isDone(group, rounded, UserCode.ROUNDING);
                    hashes[group.rank()][call++] = done ? Cells.hash(rounded) : 0;
                }
                Expect.works(group);
            });
        }
        for (int call = 0; call < hashes[0].length; call++) {
            for (int rank = 1; rank < worldSize; rank++) {
                assertEquals(hashes[0][call], hashes[rank][call], "bits of call " + call + " on ranks 0 and " + rank);
            }
        }
    }

    /** Checks that a user-defined reduction for another element type is refused before data moves. */
    @Rule(119)
    @Test
    default void aUsersCodeForAnotherTypeIsRefusedBeforeAnythingMoves() {
        try (Ranks ranks = group(2)) {
            ranks.run(group -> {
                ReduceOp op = UserCode.forms().get(0);
                int[] ints = {5, 6};
                Collective call = Collective.allReduce(HostTensor.of(ints), HostTensor.of(ints), op);
                Operand floats = UserCode.operand(group.rank(), 2, 0);
                if (isDone(group, floats, op)) {
                    CollectiveBackend backend = (CollectiveBackend) group.backend();
                    String text = assertThrows(
                                    IllegalArgumentException.class, () -> backend.run(call, backend.timeout()))
                            .getMessage();
                    assertTrue(
                            text.contains(op.name())
                                    && text.contains(DataType.FLOAT32.label())
                                    && text.contains(DataType.INT32.label()),
                            "need the op, the needed type and the found type in: " + text);
                    assertEquals(6, ints[1], "a refused call wrote to memory");
                }
                Expect.works(group);
            });
        }
    }

    private boolean isDone(ProcessGroup group, Operand data, ReduceOp op) {
        Collective call = Collective.allReduce(data.tensor(), data.tensor(), op);
        if (Cells.RefusedCells.of(group, call).isPresent()) {
            if (group.rank() == 0) {
                refused("users' reductions");
            }
            return false;
        }
        CollectiveBackend backend = (CollectiveBackend) group.backend();
        backend.run(call, backend.timeout());
        return true;
    }
}
