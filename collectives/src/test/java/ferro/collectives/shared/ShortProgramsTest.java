package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.collectives.shared.SharedTensors.SharedAllocation;
import ferro.spi.CallHeader;
import ferro.spi.SharedMemory;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Operations without slots and flags: how far ahead a rank may be, and that each call is compared nevertheless. */
class ShortProgramsTest {
    private static final int RANKS = 2;

    /** A rank in another call than this one. */
    private record Differing(int peer, long expected, long found) {}

    private final SegmentLayout layout = OneJvm.layout(RANKS, 16 << 10);
    private final OneJvm memory = new OneJvm(RANKS, layout.end());
    private final List<List<Differing>> events = List.of(new ArrayList<>(), new ArrayList<>());
    private final List<SharedMemoryInterpreter> machines = List.of(machine(0), machine(1));
    private final long[] sequences = new long[RANKS];

    private SharedMemoryInterpreter machine(int rank) {
        Transport.Events receiver = new Transport.Events() {
            @Override
            public void lost(int peer, FerroException cause) {
                throw new AssertionError(cause);
            }

            @Override
            public void broken(int peer, FerroException cause) {
                throw new AssertionError(cause);
            }

            @Override
            public void mismatched(int peer, CallHeader expected, CallHeader found) {
                events.get(rank).add(new Differing(peer, expected.sequence(), found.sequence()));
            }

            @Override
            public void control(int peer, ByteBuffer message) {
                throw new AssertionError("a message from rank " + peer);
            }
        };
        return new SharedMemoryInterpreter(rank, RANKS, layout, memory.of(rank), receiver, peer -> {}, 1);
    }

    /** Begins the next operation of a rank; returns whether it ended at once. */
    private boolean broadcasts(int rank, int root, float[] data) {
        ProgramCall call = new ProgramCall(CollectiveKind.BROADCAST, rank, RANKS, root, data.length, Float.BYTES, 1);
        SharedMemoryProgram program = StagedPrograms.of(call, layout.slotBytes());
        assertTrue(program.isShort, () -> "of " + data.length + " elements");
        HostTensor tensor = HostTensor.of(data);
        CallHeader header =
                CallHeader.of(++sequences[rank], new CallHeader.Call(1, 100 + root, "broadcast from " + root));
        machines.get(rank).begin(program, header, rank == root ? tensor : null, rank == root ? null : tensor, null);
        machines.get(rank).advance();
        return machines.get(rank).isFinished();
    }

    private static float[] numbered(int operation, int elements) {
        float[] data = new float[elements];
        for (int i = 0; i < elements; i++) {
            data[i] = 1000 * operation + i;
        }
        return data;
    }

    /** Beside the header, in the room of the header line, and as much as that holds. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 100, SegmentLayout.SMALL_BYTES / Float.BYTES})
    void aRootMayBeAheadByAllHeaderLinesWithoutLosingData(int elements) {
        int ahead = 0;
        while (broadcasts(0, 0, numbered(ahead, elements))) {
            ahead++;
        }

        assertEquals(SegmentLayout.HEADERS - 1, ahead, "operations before the root waits for the other rank");
        for (int operation = 0; operation < 100; operation++) {
            float[] received = new float[elements];
            assertTrue(broadcasts(1, 0, received), "operation " + operation + " is there");
            assertArrayEquals(numbered(operation, elements), received, "operation " + operation);
            while (machines.get(0).advance() | machines.get(0).isFinished()) {
                if (machines.get(0).isFinished()) {
                    broadcasts(0, 0, numbered(++ahead, elements));
                }
            }
        }
        assertEquals(List.of(List.of(), List.of()), events);
    }

    /** Two roots wait for nobody; the one that is ahead compares the headers before it goes on. */
    @Test
    void differentCallsAreDetectedAlthoughNoRankWaits() {
        for (int operation = 0; operation < 5; operation++) {
            assertTrue(broadcasts(0, 0, numbered(operation, 3)));
            assertTrue(broadcasts(1, 1, numbered(operation, 3)), "operation " + operation);
        }
        int more = 0;
        while (more < 2 * SegmentLayout.HEADERS && broadcasts(0, 0, numbered(5 + more, 3))) {
            more++;
        }

        assertTrue(more < SegmentLayout.HEADERS, () -> "went on without a look at the header of operation 0");
        assertEquals(List.of(new Differing(1, 1, 1)), events.get(0));
        assertFalse(machines.get(0).advance());
    }

    /** A program whose calls all end at once never comes to another place where memory is let go. */
    @Test
    void callsThatEndAtOnceReleaseUnusedTensors() {
        int bytes = 1 << 12;
        OneJvm lending = new OneJvm(RANKS, (int) SharedAllocation.segmentBytes(bytes));
        for (int rank = 0; rank < RANKS; rank++) {
            SharedMemory mine = lending.of(rank);
            machines.get(rank)
                    .tensors()
                    .add(mine, rank, RANKS, bytes, mine.lend())
                    .letGo();
        }

        // in its second call, the first rank reads that the other rank has released the memory too
        for (int call = 1; call <= 2; call++) {
            for (int rank = 0; rank < RANKS; rank++) {
                assertTrue(broadcastsAtOnce(rank, numbered(call, 1)));
            }
        }

        for (int rank = 0; rank < RANKS; rank++) {
            assertTrue(machines.get(rank).tensors().isEmpty(), "rank " + rank);
        }
    }

    private boolean broadcastsAtOnce(int rank, float[] data) {
        ProgramCall call = new ProgramCall(CollectiveKind.BROADCAST, rank, RANKS, 0, data.length, Float.BYTES, 1);
        SharedMemoryProgram program = StagedPrograms.of(call, layout.slotBytes());
        HostTensor tensor = HostTensor.of(data);
        CallHeader.Call common = new CallHeader.Call(1, 100, "broadcast from 0");
        HostTensor in = rank == 0 ? tensor : null;
        return machines.get(rank).publish(program, ++sequences[rank], common, in, null)
                && machines.get(rank).consume(program, common, in, rank == 0 ? null : tensor, null)
                        != SharedMemoryInterpreter.NOT_THERE;
    }

    /** Who waits for another looks at what that one did before. */
    @Test
    void aDifferentCallIsDetectedByTheNextCallThatWaits() {
        for (int operation = 0; operation < 3; operation++) {
            assertTrue(broadcasts(0, 0, numbered(operation, 3)));
            assertTrue(
                    broadcasts(1, operation == 1 ? 1 : 0, new float[3]) == (operation < 2), "operation " + operation);
        }

        assertEquals(List.of(List.of(), List.of(new Differing(0, 2, 2))), events);
    }
}
