package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.collectives.plan.Algorithm.Topology;
import ferro.collectives.plan.AlgorithmChooser;
import ferro.collectives.plan.AlgorithmChooser.ChoiceInputs;
import org.junit.jupiter.api.Test;

class SharedMemoryProgramTest {
    private static final SegmentLayout SMALL = OneJvm.layout(2, 4096);

    @Test
    void anAllReduceLongerThanTwoGibibytesIsStaged() {
        ProgramCall call = new ProgramCall(CollectiveKind.ALL_REDUCE, 1, 2, 0, 3L << 28, Float.BYTES, 1);
        SegmentLayout layout = OneJvm.layout(2, 1 << 20);

        SharedMemoryProgram program = ReducePrograms.of(call, call.chunkBytes(layout.slotBytes()));

        assertNull(program.inTensors);
        for (int step = 0; step < program.steps(); step++) {
            assertNotEquals(SharedMemoryProgram.AWAIT_READ, program.kind[step], "its headers say nothing of tensors");
        }
    }

    @Test
    void operandsInSharedTensorsAreNotStaged() {
        SharedMemoryProgram program = ReducePrograms.of(call(CollectiveKind.ALL_REDUCE, 2, 8), SMALL.slotBytes());

        for (int step = 0; step < program.steps(); step++) {
            boolean moves =
                    program.kind[step] >= SharedMemoryProgram.COPY_IN && program.kind[step] != SharedMemoryProgram.COPY;
            assertTrue(!moves || program.chunk[step] != SharedMemoryProgram.LINE, program.text(step));
        }
    }

    /** Its result is what the others have read and combined, perhaps of a rank whose call has failed. */
    @Test
    void aRankWithoutAPartAlsoChecksForAbandonedCalls() {
        ProgramCall call = new ProgramCall(CollectiveKind.ALL_REDUCE, 1023, 1024, 0, 1023, Float.BYTES, 1);
        assertEquals(0, call.partLength(call.rank()));

        SharedMemoryProgram program = ReducePrograms.of(call, 1 << 20).inTensors;

        assertTrue(program.readsTensors);
    }

    @Test
    void aLongProgramCountsTheBytesOfItsFirstSteps() {
        SharedMemoryProgram program = program(CollectiveKind.ALL_REDUCE, 8, 1 << 20);
        long moved = 0;
        long received = 0;
        for (int step = 0; step < program.steps(); step++) {
            assertEquals(moved, program.moved(step), "before step " + step);
            assertEquals(received, program.received(step), "before step " + step);
            int count = program.count[step];
            switch (program.kind[step]) {
                case SharedMemoryProgram.COPY_IN -> moved += count;
                case SharedMemoryProgram.COPY_OUT, SharedMemoryProgram.COMBINE -> {
                    moved += count;
                    received += count;
                }
                case SharedMemoryProgram.COMBINE_BOTH -> {
                    moved += 2L * count;
                    received += count;
                }
                default -> {
                    // it moves nothing of others
                }
            }
        }
        assertEquals(moved, program.movedElements());
        assertTrue(program.steps() > 5000, "steps " + program.steps());
    }

    @Test
    void shortProgramsHaveAtMostTheLimitOfSteps() {
        for (CollectiveKind kind : new CollectiveKind[] {
            CollectiveKind.ALL_REDUCE,
            CollectiveKind.REDUCE_SCATTER,
            CollectiveKind.ALL_TO_ALL,
            CollectiveKind.ALL_GATHER,
            CollectiveKind.BROADCAST
        }) {
            long bytes = 1 << 14;
            while (call(kind, 32, 2 * bytes).hasShortProgram(SMALL.slotBytes())) {
                bytes *= 2;
            }
            int steps = program(kind, 32, bytes).steps();
            assertTrue(steps <= ProgramCall.STEPS_MOST, kind + " of " + bytes + " bytes has " + steps);
        }
    }

    @Test
    void slotsWithTooFewHeaderLinesAreRefused() {
        assertThrows(
                IllegalArgumentException.class,
                () -> program(CollectiveKind.ALL_TO_ALL, SMALL.slotBytes() / ProgramCall.ALIGNMENT + 1, 1 << 20));
    }

    private static SharedMemoryProgram program(CollectiveKind kind, int ranks, long bytes) {
        ProgramCall call = call(kind, ranks, bytes);
        ChoiceInputs needed = new ChoiceInputs(kind, ranks, 1, bytes, SMALL.slotBytes());
        return AlgorithmChooser.of("").algorithm(Topology.SHARED_MEMORY, needed).program(call, SMALL.slotBytes());
    }

    private static ProgramCall call(CollectiveKind kind, int ranks, long bytes) {
        int unit = Float.BYTES;
        long elements = bytes / unit / ranks * ranks;
        return new ProgramCall(kind, 0, ranks, 0, elements, unit, 1);
    }
}
