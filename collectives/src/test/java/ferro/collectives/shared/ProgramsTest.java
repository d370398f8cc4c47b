package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.CollectiveKind;
import ferro.collectives.plan.Algorithm;
import ferro.collectives.plan.Algorithm.Topology;
import ferro.collectives.shared.ProgramProof.Operation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProgramsTest {
    static final List<CollectiveKind> KINDS = List.of(
            CollectiveKind.ALL_REDUCE,
            CollectiveKind.REDUCE,
            CollectiveKind.BROADCAST,
            CollectiveKind.SCATTER,
            CollectiveKind.GATHER,
            CollectiveKind.ALL_GATHER,
            CollectiveKind.REDUCE_SCATTER,
            CollectiveKind.ALL_TO_ALL,
            CollectiveKind.BARRIER);

    /** Elements of one chunk of 64 bytes for each rank. */
    private static final int LINE = ProgramCall.ALIGNMENT / ProgramProof.UNIT;

    @ParameterizedTest
    @Tag("long")
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16})
    void everyProgramIsProvedAlone(int ranks) {
        for (Operation operation : all(ranks, new Random(ranks))) {
            prove(ranks, List.of(operation));
        }
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(ints = {2})
    void everyProgramMayFollowAnyOther(int ranks) {
        List<Operation> operations = all(ranks, new Random(ranks));
        for (Operation first : operations) {
            for (Operation second : operations) {
                prove(ranks, List.of(first, second));
            }
        }
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 6, 7, 8, 16})
    void programsInAnyOrderAreProved(int ranks) {
        Random random = new Random(ranks);
        List<Operation> operations = all(ranks, random);
        for (int i = 0; i < 180 / ranks; i++) {
            List<Operation> sequence = new ArrayList<>();
            for (int j = 0; j < 4; j++) {
                sequence.add(operations.get(random.nextInt(operations.size())));
            }
            prove(ranks, sequence);
        }
    }

    /** Long enough to use each header line twice; a rank that nobody keeps waiting gets as far ahead as it may. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 7})
    void aRankMayBeSeveralShortOperationsAhead(int ranks) {
        Random random = new Random(ranks);
        List<Operation> operations = all(ranks, random);
        List<Operation> shortOnes =
                operations.stream().filter(each -> isShort(each, ranks)).toList();
        for (Operation operation : shortOnes) {
            prove(ranks, Collections.nCopies(2 * SegmentLayout.HEADERS + 5, operation));
        }
        for (int i = 0; i < 30; i++) {
            List<Operation> sequence = new ArrayList<>();
            Operation often = shortOnes.get(random.nextInt(shortOnes.size()));
            for (int j = 0; j < 4 * SegmentLayout.HEADERS; j++) {
                boolean other = random.nextInt(SegmentLayout.HEADERS) == 0;
                sequence.add(other ? operations.get(random.nextInt(operations.size())) : often);
            }
            prove(ranks, sequence);
        }
    }

    private static boolean isShort(Operation operation, int ranks) {
        ProgramCall call = new ProgramCall(
                operation.kind(), 0, ranks, operation.root(), operation.elements(), ProgramProof.UNIT, 1);
        return Algorithm.of(operation.kind(), operation.algorithm())
                .program(call, ProgramCall.ALIGNMENT * ranks)
                .isShort;
    }

    private static void prove(int ranks, List<Operation> sequence) {
        Optional<String> whyNot = new ProgramProof(ranks, ProgramCall.ALIGNMENT * ranks).whyNot(sequence);
        assertEquals(Optional.empty(), whyNot, sequence::toString);
    }

    /** Operations of every kind and algorithm, of none to seven chunks. */
    private static List<Operation> all(int ranks, Random random) {
        List<Operation> operations = new ArrayList<>();
        for (CollectiveKind kind : KINDS) {
            for (String algorithm : Algorithm.names(kind, Topology.SHARED_MEMORY)) {
                boolean isOneChunk = !Algorithm.of(kind, algorithm).fits(2, 1) || kind == CollectiveKind.BARRIER;
                int chunk = kind.in() == CollectiveKind.DataShare.PART ? ranks * LINE * ranks : LINE * ranks;
                int odd = kind == CollectiveKind.ALL_REDUCE && !isOneChunk ? 1 : 0;
                for (int elements : isOneChunk
                        ? new int[] {0, ranks, LINE * ranks}
                        : new int[] {
                            ranks,
                            chunk - ranks + odd,
                            chunk,
                            2 * chunk + odd,
                            3 * chunk - ranks,
                            4 * chunk,
                            7 * chunk - odd
                        }) {
                    operations.add(new Operation(
                            kind, algorithm, elements, random.nextInt(ranks), random.nextBoolean(), 0, true));
                    if (!isOneChunk) {
                        int all = (1 << ranks) - 1;
                        for (int shared : new int[] {all, 1 << random.nextInt(ranks), random.nextInt(all)}) {
                            operations.add(new Operation(
                                    kind,
                                    algorithm,
                                    elements,
                                    random.nextInt(ranks),
                                    random.nextBoolean(),
                                    shared,
                                    random.nextBoolean()));
                        }
                    }
                }
            }
        }
        return operations;
    }
}
