package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.collectives.plan.Algorithm;
import ferro.collectives.plan.Algorithm.Topology;
import ferro.collectives.shared.ProgramProof.Operation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the proof would find: one rank's program of the second of three operations is wrong in one step. */
@Tag("long")
class ProgramMutantsTest {
    private static final int RANKS = 4;
    private static final int CHUNK = ProgramCall.ALIGNMENT * RANKS;
    private static final int ALL = (1 << RANKS) - 1;
    private static final int LAME = 2;

    /** How many steps each test has made wrong, in all operations together: some have no step of a kind. */
    private static final Map<String, Integer> PLANTED = new TreeMap<>();

    /** Makes a step wrong; tells whether that can be done with it. */
    private interface Mutant {
        boolean plant(SharedMemoryProgram program, int step);
    }

    private String test;

    @BeforeEach
    void count(TestInfo info) {
        test = info.getTestMethod().orElseThrow().getName();
        PLANTED.putIfAbsent(test, 0);
    }

    @AfterAll
    static void everyTestHasMadeStepsWrong() {
        System.out.println("steps made wrong: " + PLANTED);
        assertFalse(PLANTED.containsValue(0), () -> "a test has made no step wrong: " + PLANTED);
    }

    /**
     * The same operation in one kind of memory after the other, for each program. What is wrong must be seen in one of
     * them: where operands are shared, some steps do nothing.
     */
    private static List<List<Operation>> operations() {
        List<List<Operation>> operations = new ArrayList<>();
        for (CollectiveKind kind : ProgramsTest.KINDS) {
            for (String algorithm : Algorithm.names(kind, Topology.SHARED_MEMORY)) {
                if (algorithm.equals("flat")) {
                    operations.add(List.of(new Operation(kind, algorithm, 4 * RANKS, 1, false, 0, true)));
                    continue;
                }
                int elements = 7 * CHUNK / ProgramProof.UNIT;
                List<Operation> inTensors = List.of(
                        new Operation(kind, algorithm, elements, 1, true, ALL, true),
                        new Operation(kind, algorithm, elements, 1, false, ALL, true));
                List<Operation> mixed = new ArrayList<>();
                for (int shared : new int[] {0, 1 << LAME, ALL - (1 << LAME)}) {
                    mixed.add(new Operation(kind, algorithm, elements, 1, false, shared, true));
                }
                if (algorithm.equals("halfInPlace")) {
                    operations.add(inTensors);
                } else {
                    mixed.addAll(inTensors);
                }
                operations.add(mixed);
            }
        }
        return operations;
    }

    @ParameterizedTest
    @MethodSource("operations")
    void aProgramWithoutOneOfItsStepsIsDetected(List<Operation> operation) {
        assertEquals(List.of(), unnoticed(operation, ProgramMutantsTest::leftOut));
    }

    @ParameterizedTest
    @MethodSource("operations")
    void aStepTowardAWrongRankIsDetected(List<Operation> operation) {
        assertEquals(List.of(), unnoticed(operation, (program, step) -> {
            int peer = program.peer[step];
            program.peer[step] = (peer + 1) % RANKS;
            byte kind = program.kind[step];
            return peer >= 0 && kind != SharedMemoryProgram.COPY_IN && kind != SharedMemoryProgram.COPY_OWN_IN;
        }));
    }

    @ParameterizedTest
    @MethodSource("operations")
    void aFlagThatIsSetTooEarlyIsDetected(List<Operation> operation) {
        assertEquals(List.of(), unnoticed(operation, (program, step) -> {
            byte kind = program.kind[step];
            boolean tells = kind == SharedMemoryProgram.PUBLISH
                    || kind == SharedMemoryProgram.ENTER
                    || kind == SharedMemoryProgram.TELL_READ;
            if (!tells || program.kind[step - 1] < SharedMemoryProgram.COPY_IN) {
                return false;
            }
            swap(program, step);
            return true;
        }));
    }

    @ParameterizedTest
    @MethodSource("operations")
    void aReadAtAWrongElementIsDetected(List<Operation> operation) {
        assertEquals(List.of(), unnoticed(operation, (program, step) -> {
            boolean reads = program.readsOperands && program.peer[step] >= 0 && program.in[step] >= 0;
            if (!reads || program.kind[step] < SharedMemoryProgram.COPY_OUT) {
                return false;
            }
            program.in[step] += program.in[step] == 0 ? 1 : -1;
            return true;
        }));
    }

    @ParameterizedTest
    @MethodSource("operations")
    void aCombineThatCompletesTooEarlyOrNeverIsDetected(List<Operation> operation) {
        assertEquals(List.of(), unnoticed(operation, (program, step) -> {
            byte kind = program.kind[step];
            program.completes[step] = !program.completes[step];
            return kind == SharedMemoryProgram.COMBINE
                    || kind == SharedMemoryProgram.COMBINE_BOTH
                    || kind == SharedMemoryProgram.COMBINE_AREAS;
        }));
    }

    @Test
    void aWrongOrderOfOperandsOnOneRankIsDetected() {
        Operation flat = new Operation(CollectiveKind.ALL_REDUCE, "flat", 4 * RANKS, 0, false, 0, true);
        List<String> refused = new ArrayList<>();
        List<String> unnoticed = unnoticed(
                List.of(flat),
                (program, step) -> {
                    boolean two = program.kind[step] == SharedMemoryProgram.COMBINE
                            && step + 1 < program.size
                            && program.kind[step + 1] == SharedMemoryProgram.COMBINE;
                    if (two) {
                        swap(program, step + 1);
                    }
                    return two;
                },
                refused);

        assertEquals(List.of(), unnoticed);
        assertTrue(refused.stream().anyMatch(why -> why.contains("another expression")), refused::toString);
    }

    private static boolean leftOut(SharedMemoryProgram program, int step) {
        byte kind = program.kind[step];
        program.kind[step] = SharedMemoryProgram.COPY;
        program.count[step] = 0;
        return kind != SharedMemoryProgram.GATE
                && kind != SharedMemoryProgram.PUBLISH
                && kind != SharedMemoryProgram.COPY;
    }

    private static void swap(SharedMemoryProgram program, int step) {
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

    private List<String> unnoticed(List<Operation> operations, Mutant mutant) {
        return unnoticed(operations, mutant, new ArrayList<>());
    }

    /** Returns the steps that can be made wrong and nobody sees it; adds what is seen of the others. */
    private List<String> unnoticed(List<Operation> operations, Mutant mutant, List<String> refused) {
        List<String> unnoticed = new ArrayList<>();
        int[] size = {1};
        for (int step = 0; step < size[0]; step++) {
            int at = step;
            Set<String> planted = new HashSet<>();
            boolean seen = false;
            for (Operation operation : operations) {
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
                whyNot.ifPresent(refused::add);
                seen |= whyNot.isPresent();
            }
            PLANTED.merge(test, planted.size(), Integer::sum);
            if (!seen) {
                unnoticed.addAll(planted);
            }
        }
        return unnoticed;
    }
}
