package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.collectives.algorithm.AlgorithmRegistry;
import ferro.collectives.algorithm.Topology;
import ferro.collectives.shared.ProgramProof.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the proof would find: one rank's program of the second of three operations is wrong in one step. */
@Tag("mutants")
class ProgramMutantsTest {
    private static final int RANKS = 4;
    private static final int CHUNK = SharedCall.ALIGNMENT * RANKS;
    private static final int LAME = 2;

    /** Makes a step wrong; tells whether that can be done with it. */
    private interface Mutant {
        boolean plant(Program program, int step);
    }

    private static List<Operation> operations() {
        List<Operation> operations = new ArrayList<>();
        for (CollectiveKind kind : ProgramsTest.KINDS) {
            for (String algorithm : AlgorithmRegistry.names(kind, Topology.SHARED_MEMORY)) {
                int elements = algorithm.equals("flat") ? 4 * RANKS : 7 * CHUNK / ProgramProof.UNIT;
                operations.add(new Operation(kind, algorithm, elements, 1, false, 0));
                if (algorithm.equals("halfInPlace")) {
                    operations.add(new Operation(kind, algorithm, elements, 1, true, (1 << RANKS) - 1));
                }
            }
        }
        return operations;
    }

    @ParameterizedTest
    @MethodSource("operations")
    void everyWaitAndEveryMoveIsNeeded(Operation operation) {
        assertEquals(List.of(), unnoticed(operation, ProgramMutantsTest::leftOut));
    }

    @ParameterizedTest
    @MethodSource("operations")
    void aStepThatTurnsToAnotherRankIsFound(Operation operation) {
        assertEquals(List.of(), unnoticed(operation, (program, step) -> {
            int peer = program.peer[step];
            program.peer[step] = (peer + 1) % RANKS;
            return peer >= 0 && program.kind[step] != Program.COPY_IN;
        }));
    }

    @ParameterizedTest
    @MethodSource("operations")
    void aFlagThatIsSetTooEarlyIsFound(Operation operation) {
        assertEquals(List.of(), unnoticed(operation, (program, step) -> {
            boolean tells = program.kind[step] == Program.PUBLISH || program.kind[step] == Program.ENTER;
            if (!tells || program.kind[step - 1] < Program.COPY_IN) {
                return false;
            }
            swap(program, step);
            return true;
        }));
    }

    @ParameterizedTest
    @MethodSource("operations")
    void aCombineThatCompletesTooEarlyOrNeverIsFound(Operation operation) {
        assertEquals(List.of(), unnoticed(operation, (program, step) -> {
            byte kind = program.kind[step];
            program.completes[step] = !program.completes[step];
            return kind == Program.COMBINE || kind == Program.COMBINE_BOTH || kind == Program.COMBINE_AREAS;
        }));
    }

    @Test
    void operandsInAnotherOrderOnOneRankAreFound() {
        Operation flat = new Operation(CollectiveKind.ALL_REDUCE, "flat", 4 * RANKS, 0, false, 0);
        List<String> refused = new ArrayList<>();
        List<String> unnoticed = unnoticed(
                flat,
                (program, step) -> {
                    boolean two = program.kind[step] == Program.COMBINE
                            && step + 1 < program.size
                            && program.kind[step + 1] == Program.COMBINE;
                    if (two) {
                        swap(program, step + 1);
                    }
                    return two;
                },
                refused);

        assertEquals(List.of(), unnoticed);
        assertTrue(refused.stream().anyMatch(why -> why.contains("another expression")), refused::toString);
    }

    private static boolean leftOut(Program program, int step) {
        byte kind = program.kind[step];
        program.kind[step] = Program.COPY;
        program.count[step] = 0;
        return kind != Program.GATE && kind != Program.PUBLISH && kind != Program.COPY;
    }

    private static void swap(Program program, int step) {
        byte kind = program.kind[step];
        program.kind[step] = program.kind[step - 1];
        program.kind[step - 1] = kind;
        for (int[] field : List.of(program.peer, program.value, program.chunk, program.at, program.count)) {
            int mine = field[step];
            field[step] = field[step - 1];
            field[step - 1] = mine;
        }
        for (long[] field : List.of(program.in, program.out)) {
            long mine = field[step];
            field[step] = field[step - 1];
            field[step - 1] = mine;
        }
    }

    private static List<String> unnoticed(Operation operation, Mutant mutant) {
        return unnoticed(operation, mutant, new ArrayList<>());
    }

    /** Returns the steps that can be made wrong and nobody sees it; adds what is seen of the others. */
    private static List<String> unnoticed(Operation operation, Mutant mutant, List<String> refused) {
        List<String> unnoticed = new ArrayList<>();
        int[] size = {1};
        for (int step = 0; step < size[0]; step++) {
            int at = step;
            List<String> planted = new ArrayList<>();
            Optional<String> whyNot = new ProgramProof(RANKS, CHUNK, (number, rank, program) -> {
                        if (number == 1 && rank == LAME) {
                            size[0] = program.size;
                            String text = program.text(at);
                            if (mutant.plant(program, at)) {
                                planted.add(text);
                            }
                        }
                    })
                    .whyNot(List.of(operation, operation, operation));
            whyNot.ifPresentOrElse(refused::add, () -> unnoticed.addAll(planted));
        }
        return unnoticed;
    }
}
