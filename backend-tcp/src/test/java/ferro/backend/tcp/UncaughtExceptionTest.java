package ferro.backend.tcp;

import static ferro.backend.tcp.mesh.Ranks.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.Threads;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the other ranks receive if an exception ends the thread that joined. */
@Timeout(60)
class UncaughtExceptionTest {
    @Test
    @DisplayName("row 20: an exception that ends the thread that joined aborts the group and what was made of it")
    void anExceptionThatEndsTheJoiningThreadAbortsAllItsGroups() {
        try (TcpJob job = TcpJob.of(2)) {
            SystemContext context = job.context();
            List<ProcessGroup> left = new CopyOnWriteArrayList<>();
            Thread joins = new Thread(() -> joinAndThrow(context, left));
            joins.setUncaughtExceptionHandler((thread, thrown) -> {});
            joins.start();
            ProcessGroup world = Ranks.result(job.joining("world", 0, job.context()));
            ProcessGroup part = world.newGroup(0, 1);
            // the thread throws only after this send; the send itself may fail
            world.sendAsync(HostTensor.of(new float[] {7}), 1, 5);

            for (CompletableFuture<FerroException> one : List.of(aborted(part), aborted(world))) {
                FerroException failure = Ranks.result(one);
                assertEquals(Code.ABORTED, failure.code(), failure.getMessage());
                assertEquals(Set.of(1), failure.where().culprits(), failure.getMessage());
                assertSays(
                        failure.getMessage(),
                        "rank 1 aborted the group: java.lang.IllegalStateException: no data for it");
            }
            left.forEach(ProcessGroup::close);
        }
    }

    private static void joinAndThrow(SystemContext context, List<ProcessGroup> left) {
        ProcessGroup world = Groups.join(GroupSpec.of("world", 1, 2, Ranks.LONG), context);
        left.add(world);
        // by a view, whose groups are the thread's as well
        left.add(world.within(Ranks.LONG).newGroup(0, 1));
        world.recv(new float[1], 0, 5);
        throw new IllegalStateException("no data for it");
    }

    private static CompletableFuture<FerroException> aborted(ProcessGroup group) {
        return Threads.start(() -> assertThrows(FerroException.class, () -> {
            while (true) {
                group.allReduce(new float[] {3, 5}, ReduceOp.MAX);
            }
        }));
    }
}
