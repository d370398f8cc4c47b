package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.plan.Algorithm;
import ferro.collectives.plan.Algorithm.Topology;
import ferro.spi.CallHeader;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory of slots is reserved by the first operation that needs it, before anything is written there. */
class ReservedSlotsTest {
    private static final SegmentLayout LAYOUT = OneJvm.layout(2, 64 << 10);

    private static final CallHeader.Call CALL = new CallHeader.Call(1, 2, "a call");

    private final List<String> reserved = new ArrayList<>();

    private final SharedMemoryInterpreter machine = machine();

    private SharedMemoryInterpreter machine() {
        OneJvm memory = new OneJvm(
                2,
                LAYOUT.end(),
                (from, bytes) -> reserved.add(from - LAYOUT.slot(reserved.size() % SegmentLayout.SLOTS) + "+" + bytes));
        return new SharedMemoryInterpreter(0, 2, LAYOUT, memory.of(0), new NoEvents(0), peer -> {}, 1);
    }

    @Test
    void operationsWithinTheHeaderLinesReserveNoSlots() {
        begin(3);
        begin(1000);

        assertEquals(List.of(), reserved);
    }

    @Test
    void slotsGrowWithTheOperations() {
        begin(1500);
        begin(2000);
        assertEquals(List.of("0+8192", "0+8192", "0+8192"), reserved);

        reserved.clear();
        begin(3000);
        assertEquals(List.of("8192+8192", "8192+8192", "8192+8192"), reserved);

        reserved.clear();
        begin(1 << 20);
        assertEquals(List.of("16384+49152", "16384+49152", "16384+49152"), reserved);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 16})
    void everyProgramDeclaresTheBytesOfASlotThatItUses(int ranks) {
        for (CollectiveKind kind : ProgramsTest.KINDS) {
            for (String algorithm : Algorithm.names(kind, Topology.SHARED_MEMORY)) {
                for (int elements : new int[] {0, ranks, 100 * ranks, 20_000 * ranks}) {
                    if (Algorithm.of(kind, algorithm).fits((long) elements * Float.BYTES, LAYOUT.slotBytes())) {
                        IntStream.range(0, ranks)
                                .forEach(rank -> check(program(kind, algorithm, rank, ranks, elements)));
                    }
                }
            }
        }
    }

    private static void check(SharedMemoryProgram program) {
        assertTrue(program.slotBytes <= LAYOUT.slotBytes(), program.algorithm);
        for (int step = 0; step < program.size; step++) {
            assertTrue(isInside(program, step), program.text(step));
        }
    }

    @Test
    void theFastPathReservesSlots() {
        SharedMemoryProgram program = program(CollectiveKind.ALL_REDUCE, "flat", 0, 2, 2000);

        assertTrue(machine.publish(program, 1, CALL, HostTensor.of(new float[2000]), ReduceOp.SUM));

        assertEquals(List.of("0+8192", "0+8192", "0+8192"), reserved);
    }

    /** Begins a broadcast of the root, which stages what the other rank reads. */
    private void begin(int elements) {
        HostTensor tensor = HostTensor.of(new float[elements]);
        SharedMemoryProgram program = program(CollectiveKind.BROADCAST, "staged", 0, 2, elements);
        machine.begin(program, CallHeader.of(1, CALL), tensor, tensor, null);
    }

    private static boolean isInside(SharedMemoryProgram program, int step) {
        boolean stages =
                program.kind[step] >= SharedMemoryProgram.COPY_IN && program.kind[step] != SharedMemoryProgram.COPY;
        return !stages
                || program.chunk[step] < 0
                || program.at[step] + program.count[step] * Float.BYTES <= program.slotBytes;
    }

    private static SharedMemoryProgram program(
            CollectiveKind kind, String algorithm, int rank, int ranks, int elements) {
        ProgramCall call = new ProgramCall(kind, rank, ranks, 0, elements, Float.BYTES, 1);
        return Algorithm.of(kind, algorithm).program(call, LAYOUT.slotBytes());
    }
}
