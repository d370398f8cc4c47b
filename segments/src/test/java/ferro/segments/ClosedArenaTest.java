package ferro.segments;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.OnThread;
import ferro.harness.Ranks;
import java.lang.foreign.Arena;
import java.util.Set;
import java.util.concurrent.Future;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** An arena that its owner closes too early: an exception on every rank, and never the end of the JVM. */
class ClosedArenaTest {
    private static final int ELEMENTS = 4 << 20;

    @ParameterizedTest
    @EnumSource
    void aCallOnAClosedArenaMovesNothingAndTheGroupContinues(Medium medium) {
        Ranks.each(medium, 2, Ranks.ON_DISK, group -> {
            Arena arena = Arena.ofShared();
            HostTensor tensor = tensor(arena, 8);
            arena.close();
            assertThrows(IllegalStateException.class, () -> group.allReduce(tensor, ReduceOp.SUM));
            assertThrows(IllegalStateException.class, () -> group.allReduceAsync(tensor, ReduceOp.SUM));
            assertThrows(IllegalStateException.class, () -> group.send(tensor, 1 - group.rank(), 0));
            assertThrows(IllegalStateException.class, () -> group.recv(tensor, 1 - group.rank(), 0));
            group.barrier();
            assertTrue(group.failure().isEmpty());
        });
    }

    @ParameterizedTest
    @CsvSource({"SIMULATED, 64", "SIMULATED, 4194304", "TCP, 64", "TCP, 4194304", "SHM, 64", "SHM, 4194304"})
    void closingAnArenaDuringACallFailsAllRanks(Medium medium, int elements) {
        try (Ranks ranks = Ranks.over(medium, 2, Ranks.ON_DISK)) {
            Arena arena = Arena.ofShared();
            // rank 1 has not made its call, so the call of rank 0 waits for data
            Work waiting = ranks.group(0).allReduceAsync(tensor(arena, elements), ReduceOp.SUM);
            close(arena);
            // its own call may end well, since rank 0 may have sent all of its data before
            Future<FerroException> other = OnThread.start(() -> assertThrows(FerroException.class, () -> {
                ranks.group(1).allReduce(HostTensor.of(new float[elements]), ReduceOp.SUM);
                ranks.group(1).barrier();
            }));

            FerroException own = assertThrows(FerroException.class, waiting::await);
            FerroException failed = OnThread.result(other);
            assertEquals(FerroException.Code.ABORTED, own.code());
            assertEquals(FerroException.Code.ABORTED, failed.code());
            String text = "rank 0 accessed memory of a tensor that was freed during a call (Already closed): close an"
                    + " arena only after the calls on its tensors have ended";
            assertTrue(own.getMessage().contains(text), own.getMessage());
            assertTrue(failed.getMessage().contains(text), failed.getMessage());
            assertEquals(Set.of(0), failed.where().culprits());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TCP", "SHM"})
    void aReceiveWhoseArenaIsClosedFailsWhenTheMessageComes(Medium medium) {
        try (Ranks ranks = Ranks.over(medium, 2, Ranks.ON_DISK)) {
            Arena arena = Arena.ofShared();
            Work receive = ranks.group(0).recvAsync(tensor(arena, ELEMENTS), 1, 0);
            close(arena);
            Future<?> send = OnThread.start(() -> assertThrows(
                    FerroException.class,
                    () -> ranks.group(1)
                            .sendAsync(HostTensor.of(new float[ELEMENTS]), 0, 0)
                            .await()));
            FerroException failure = assertThrows(FerroException.class, receive::await);
            assertTrue(failure.getMessage().contains("was freed during a call"), failure.getMessage());
            OnThread.result(send);
        }
    }

    /** At some moment of a call, in each round another one; most rounds end the call, and all leave the JVM as it was. */
    @RepeatedTest(5)
    void closingAnArenaAtAnyMomentNeverEndsTheJvm() {
        for (Medium medium : new Medium[] {Medium.TCP, Medium.SHM}) {
            try (Ranks ranks = Ranks.over(medium, 2, Ranks.ON_DISK)) {
                Arena arena = Arena.ofShared();
                HostTensor[] tensors = {tensor(arena, ELEMENTS), tensor(arena, ELEMENTS)};
                Future<?> calls = OnThread.start(() -> {
                    ranks.each(group -> repeat(group, tensors[group.rank()]));
                    return null;
                });
                ranks.group(0).recv(HostTensor.of(new byte[1]), 1, 9);
                close(arena);
                OnThread.result(calls);
            }
        }
    }

    /** Makes calls until the closed arena ends them. */
    private static void repeat(ProcessGroup group, HostTensor tensor) {
        if (group.rank() == 1) {
            group.send(HostTensor.of(new byte[1]), 0, 9);
        }
        Throwable end = assertThrows(RuntimeException.class, () -> {
            while (true) {
                group.allReduce(tensor, ReduceOp.SUM);
                group.broadcast(tensor, 0);
            }
        });
        // the call that finds the arena closed before it begins fails no group: the other rank waits for it
        if (end instanceof IllegalStateException && group.failure().isEmpty()) {
            group.abort(end);
        }
    }

    @Test
    void aTensorKeepsTheMemoryOfAnAutomaticArena() {
        HostTensor tensor = Segments.tensor(DataType.INT64, Arena.ofAuto().allocate(8L << 20, 8));
        tensor.setLong(77, 5);
        System.gc();
        assertEquals(5, tensor.getLong(77));
    }

    /** A system call that has the memory at this moment refuses the close. */
    private static void close(Arena arena) {
        while (true) {
            try {
                arena.close();
                return;
            } catch (IllegalStateException inUse) {
                assertTrue(arena.scope().isAlive(), inUse.toString());
                Thread.onSpinWait();
            }
        }
    }

    private static HostTensor tensor(Arena arena, int elements) {
        return Segments.tensor(DataType.FLOAT32, arena.allocate(4L * elements, 8));
    }
}
