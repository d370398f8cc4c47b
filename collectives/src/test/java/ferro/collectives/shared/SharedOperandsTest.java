package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.plan.Algorithm;
import ferro.collectives.shared.SharedTensors.SharedAllocation;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Programs on memory that all ranks share, run by the machines of all ranks on one thread. */
class SharedOperandsTest {
    private static final int RANKS = 3;
    private static final SegmentLayout LAYOUT = OneJvm.layout(RANKS, 32 << 10);
    /** So many that there are several chunks. */
    private static final int ELEMENTS = RANKS * 12_000;

    private static final int BYTES = ELEMENTS * Float.BYTES;
    private static final int FIRST_BYTE = SegmentLayout.small(0);
    private static final int PART = 2000;

    private final OneJvm segments = new OneJvm(RANKS, LAYOUT.end());
    private final OneJvm operandMemory = new OneJvm(RANKS, (int) SharedAllocation.segmentBytes(BYTES));
    private final OneJvm resultMemory = new OneJvm(RANKS, (int) SharedAllocation.segmentBytes(BYTES));
    private final ByteBuffer[] operands = new ByteBuffer[RANKS];
    private final ByteBuffer[] results = new ByteBuffer[RANKS];
    private final List<SharedAllocation> allocations = new ArrayList<>();
    private final SharedMemoryInterpreter[] machines = new SharedMemoryInterpreter[RANKS];
    private long sequence;

    SharedOperandsTest() {
        for (int rank = 0; rank < RANKS; rank++) {
            machines[rank] = new SharedMemoryInterpreter(
                    rank, RANKS, LAYOUT, segments.of(rank), new NoEvents(rank), peer -> {}, 4);
            operands[rank] = lent(rank, operandMemory);
            results[rank] = lent(rank, resultMemory);
        }
    }

    private ByteBuffer lent(int rank, OneJvm memory) {
        ByteBuffer lent = memory.of(rank).lend();
        allocations.add(machines[rank].tensors().add(memory.of(rank), rank, RANKS, BYTES, lent));
        return lent;
    }

    @ParameterizedTest
    @CsvSource({
        "ALL_REDUCE,halfInPlace",
        "REDUCE,shares",
        "BROADCAST,staged",
        "SCATTER,staged",
        "GATHER,staged",
        "ALL_GATHER,staged",
        "REDUCE_SCATTER,staged",
        "ALL_TO_ALL,staged"
    })
    void resultsAreEqualWhicheverOperandsAreShared(CollectiveKind kind, String algorithm) {
        float[][] wanted = run(kind, algorithm, 0);

        for (int shared = 1; shared < 1 << RANKS; shared++) {
            clearSlots();
            float[][] found = run(kind, algorithm, shared);
            for (int rank = 0; rank < RANKS; rank++) {
                assertArrayEquals(wanted[rank], found[rank], "rank " + rank + " where " + shared + " are shared");
            }
        }
        for (int rank = 0; rank < RANKS && kind != CollectiveKind.REDUCE; rank++) {
            for (int at = FIRST_BYTE; at < LAYOUT.end(); at++) {
                assertEquals(0, segments.of(0).area(rank).get(at), "byte " + at + " of the segment of rank " + rank);
            }
        }
    }

    @Test
    void twoHalvesOfAnAllocationAreDifferentOperands() {
        int half = ELEMENTS / 2;
        ProgramCall[] calls = calls(CollectiveKind.ALL_REDUCE, half);
        CallHeader header = header();
        for (int rank = 0; rank < RANKS; rank++) {
            HostTensor both = tensor(operands, rank, ELEMENTS);
            for (int i = 0; i < half; i++) {
                both.setFloat(i, rank + 1);
            }
            machines[rank].begin(
                    program(calls[rank], "halfInPlace"),
                    header,
                    both.slice(0, half),
                    both.slice(half, half),
                    ReduceOp.SUM);
        }
        advanceAll();
        for (int rank = 0; rank < RANKS; rank++) {
            for (int i = 0; i < half; i++) {
                assertEquals(rank + 1, operands[rank].getFloat(i * Float.BYTES), "operand of rank " + rank);
                assertEquals(1 + 2 + 3, operands[rank].getFloat((half + i) * Float.BYTES), "result of rank " + rank);
            }
        }
    }

    @Test
    void aCallOnTheFastPathEndsOnceItsOperandIsRead() {
        ProgramCall[] calls = calls(CollectiveKind.ALL_TO_ALL, RANKS * PART);
        CallHeader header = header();
        for (ProgramCall call : calls) {
            publish(call, header);
        }

        assertEquals(SharedMemoryInterpreter.NOT_THERE, consume(calls[0], header));
        begin(calls[0], header);
        machines[0].advance();
        assertFalse(machines[0].isFinished(), "others have not read the operand of rank 0");
        assertEquals(SharedMemoryInterpreter.NOT_THERE, consume(calls[1], header));
        assertTrue(consume(calls[2], header) >= 0, "all others have read");
        machines[0].advance();

        assertTrue(machines[0].isFinished());
        assertEquals(in(2).getFloat(5), out(0).getFloat(2L * PART + 5));
    }

    @Test
    void aReleasedOperandStaysMappedUntilItsCallEnds() {
        ProgramCall[] calls = calls(CollectiveKind.ALL_TO_ALL, RANKS * PART);
        CallHeader header = header();
        publish(calls[0], header);
        assertEquals(SharedMemoryInterpreter.NOT_THERE, consume(calls[0], header));

        allocations.forEach(SharedAllocation::letGo);
        begin(calls[0], header);
        for (int rank = 1; rank < RANKS; rank++) {
            fill(in(rank), rank);
            begin(calls[rank], header);
        }
        advanceAll();

        assertEquals(in(0).getFloat(PART + 5), out(1).getFloat(5));
    }

    @Test
    void aCallDoesNotEndIfAnotherRankHasAbandonedIt() {
        ProgramCall[] calls = calls(CollectiveKind.ALL_TO_ALL, RANKS * PART);
        CallHeader header = header();
        for (ProgramCall call : calls) {
            publish(call, header);
        }
        assertEquals(SharedMemoryInterpreter.NOT_THERE, consume(calls[0], header));
        assertEquals(SharedMemoryInterpreter.NOT_THERE, consume(calls[1], header));

        machines[0].abandon();

        assertEquals(SharedMemoryInterpreter.NOT_THERE, consume(calls[2], header), "on the fast path");
        for (int rank = 1; rank < RANKS; rank++) {
            begin(calls[rank], header);
            machines[rank].advance();
            assertFalse(machines[rank].isFinished(), "rank " + rank);
            assertTrue(machines[rank].waitingFor().get(0), "rank " + rank + ": " + machines[rank].progress());
        }
    }

    private void publish(ProgramCall call, CallHeader header) {
        int rank = call.rank();
        fill(in(rank), rank);
        assertTrue(machines[rank].publish(program(call, "staged"), header.sequence(), header.call(), in(rank), null));
    }

    private void begin(ProgramCall call, CallHeader header) {
        int rank = call.rank();
        machines[rank].begin(program(call, "staged"), header, in(rank), out(rank), null);
    }

    private int consume(ProgramCall call, CallHeader header) {
        int rank = call.rank();
        return machines[rank].consume(program(call, "staged"), header.call(), in(rank), out(rank), null);
    }

    private HostTensor in(int rank) {
        return tensor(operands, rank, RANKS * PART);
    }

    private HostTensor out(int rank) {
        return tensor(results, rank, RANKS * PART);
    }

    private static HostTensor tensor(ByteBuffer[] memory, int rank, int length) {
        return HostTensor.of(DataType.FLOAT32, memory[rank]).slice(0, length);
    }

    private static SharedMemoryProgram program(ProgramCall call, String algorithm) {
        return Algorithm.of(call.kind(), algorithm).program(call, LAYOUT.slotBytes());
    }

    private static ProgramCall[] calls(CollectiveKind kind, int elements) {
        ProgramCall[] calls = new ProgramCall[RANKS];
        for (int rank = 0; rank < RANKS; rank++) {
            calls[rank] = new ProgramCall(kind, rank, RANKS, 1, elements, Float.BYTES, 1);
        }
        return calls;
    }

    private CallHeader header() {
        return CallHeader.of(++sequence, new CallHeader.Call(7, 7, "a call"));
    }

    /** Runs an operation with the tensors of some ranks, a bit each, in shared memory; returns the results of all. */
    private float[][] run(CollectiveKind kind, String algorithm, int shared) {
        ProgramCall[] calls = calls(kind, ELEMENTS);
        CallHeader header = header();
        HostTensor[] out = new HostTensor[RANKS];
        for (int rank = 0; rank < RANKS; rank++) {
            boolean isShared = (shared >> rank & 1) != 0;
            HostTensor in = isShared ? tensor(operands, rank, ELEMENTS) : HostTensor.of(new float[ELEMENTS]);
            out[rank] = isShared ? tensor(results, rank, ELEMENTS) : HostTensor.of(new float[ELEMENTS]);
            fill(out[rank], RANKS);
            fill(in, rank);
            if (kind == CollectiveKind.BROADCAST && rank == calls[rank].root()) {
                out[rank] = in;
            }
            ReduceOp op = kind.combines() ? ReduceOp.SUM : null;
            machines[rank].begin(program(calls[rank], algorithm), header, in, out[rank], op);
        }
        advanceAll();
        float[][] found = new float[RANKS][ELEMENTS];
        for (int rank = 0; rank < RANKS; rank++) {
            for (int i = 0; i < ELEMENTS; i++) {
                found[rank][i] = out[rank].getFloat(i);
            }
        }
        return found;
    }

    private void advanceAll() {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (SharedMemoryInterpreter machine : machines) {
                moved |= !machine.isFinished() && machine.advance();
            }
        }
        for (int rank = 0; rank < RANKS; rank++) {
            assertTrue(machines[rank].isFinished(), "rank " + rank + " " + machines[rank].progress());
        }
    }

    private static void fill(HostTensor tensor, int rank) {
        Random random = new Random(rank);
        for (int i = 0; i < tensor.elementCount(); i++) {
            tensor.setFloat(i, rank == RANKS ? -1 : (float) Math.exp(4 * random.nextGaussian()));
        }
    }

    private void clearSlots() {
        for (int rank = 0; rank < RANKS; rank++) {
            for (int at = FIRST_BYTE; at < LAYOUT.end(); at++) {
                segments.of(0).area(rank).put(at, (byte) 0);
            }
        }
    }
}
