package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import ferro.CollectiveKind;
import ferro.collectives.plan.Algorithm;
import ferro.collectives.plan.Algorithm.Topology;
import ferro.collectives.shared.ProgramProof.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * In shared memory, part r of an all-reduce and a reduce-scatter on rank r combine every element by the same expression,
 * however much is staged at once and wherever the tensors lie.
 */
class TwinProgramsTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16})
    void twinsCombineEveryElementAlike(int ranks) {
        for (String name : Algorithm.names(CollectiveKind.ALL_REDUCE, Topology.SHARED_MEMORY)) {
            Algorithm allReduce = Algorithm.of(CollectiveKind.ALL_REDUCE, name);
            for (Algorithm twin : Algorithm.twins(allReduce)) {
                for (int lines : new int[] {1, 3}) {
                    for (int part : new int[] {1, 2, 7, 4 * lines, 4 * lines + 1, 12 * lines - 1}) {
                        int chunkBytes = lines * ranks * ProgramCall.ALIGNMENT;
                        int elements = part * ranks;
                        if (allReduce.fits((long) elements * ProgramProof.UNIT, chunkBytes)) {
                            List<String> parts = expressions(twin, ranks, chunkBytes, elements, 0);
                            assertEquals(expressions(allReduce, ranks, chunkBytes, elements, 0), parts, twin::toString);
                            assertEquals(
                                    expressions(allReduce, ranks, chunkBytes, elements, (1 << ranks) - 1),
                                    parts,
                                    twin + " and tensors in shared memory");
                        }
                    }
                }
            }
        }
    }

    @Test
    void programsWithADifferentOrderCombineDifferently() {
        Algorithm flat = Algorithm.of(CollectiveKind.ALL_REDUCE, "flat");
        Algorithm staged = Algorithm.of(CollectiveKind.REDUCE_SCATTER, "staged");

        assertNotEquals(expressions(flat, 3, 192, 6, 0), expressions(staged, 3, 192, 6, 0));
    }

    /** Returns the expressions of all elements: those of rank 0, or of the ranks of their parts. */
    private static List<String> expressions(Algorithm algorithm, int ranks, int chunkBytes, int elements, int shared) {
        boolean inTensors = shared != 0 && algorithm.label().equals("halfInPlace");
        Operation operation = new Operation(
                algorithm.kind(), algorithm.label(), elements, 0, inTensors, inTensors ? shared : 0, true);
        ProgramProof proof = new ProgramProof(ranks, chunkBytes);
        assertEquals(Optional.empty(), proof.whyNot(List.of(operation)));
        List<String> found = new ArrayList<>();
        int part = elements / ranks;
        for (int element = 0; element < elements; element++) {
            found.add(
                    algorithm.kind() == CollectiveKind.ALL_REDUCE
                            ? proof.expression(0, 0, element)
                            : proof.expression(0, element / part, element % part));
        }
        return found;
    }
}
