package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.tcp.mesh.Ranks;
import ferro.group.ProcessGroup;
import ferro.spi.ForwardingContext;
import ferro.spi.RankContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A rank that can start no more threads once its group is there. */
@Timeout(120)
class ScarceThreadsTest {
    private static final String REFUSED =
            "unable to create native thread: possibly out of memory or process/resource limits reached";

    /** Makes no threads from some time on, with the error of a start where pthread_create(3) says EAGAIN. */
    private static final class ScarceContext extends ForwardingContext {
        private volatile boolean scarce;

        ScarceContext(RankContext outer) {
            super(outer);
        }

        @Override
        public Thread newThread(Runnable task, String name) {
            // not a thread whose start throws: a newer JDK's pools do not call Thread.start
            if (scarce) {
                throw new OutOfMemoryError(REFUSED);
            }
            return super.newThread(task, name);
        }
    }

    private static List<ProcessGroup> joined(TcpJob job, ScarceContext scarce, int rank) {
        RankContext other = job.context();
        return job.joined("g", rank == 0 ? List.of(scarce, other) : List.of(other, scarce));
    }

    private static void assertLacksThreads(int rank, FerroException failure) {
        String lack = "rank " + rank + " cannot start a thread: Resource temporarily unavailable (EAGAIN";
        Ranks.assertSays(failure, Code.RESOURCE, lack, "ulimit -u");
        assertEquals(Set.of(rank), failure.where().culprits(), failure.getMessage());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aRankThatCannotStartItsProgressThreadFailsTheGroupOnAllRanks(int rank) {
        try (TcpJob job = TcpJob.of(2)) {
            ScarceContext scarce = new ScarceContext(job.context());
            List<ProcessGroup> groups = joined(job, scarce, rank);
            scarce.scarce = true;

            List<FerroException> failures = TcpJob.onAll(
                    groups,
                    group -> TcpJob.failure(() -> group.allReduceAsync(HostTensor.of(new float[] {3, 5}), ReduceOp.SUM)
                            .await()));

            failures.forEach(failure -> assertLacksThreads(rank, failure));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aRankThatHasNoThreadForAStageFailsTheGroupOnAllRanksAndTheStageRuns(int rank) {
        try (TcpJob job = TcpJob.of(2)) {
            ScarceContext scarce = new ScarceContext(job.context());
            List<ProcessGroup> groups = joined(job, scarce, rank);
            // starts the progress threads
            TcpJob.runOnAll(groups, group -> group.barrierAsync().await());
            scarce.scarce = true;
            List<CompletableFuture<Void>> stages = new ArrayList<>();
            for (ProcessGroup group : groups) {
                stages.add(group.barrierAsync().completion().thenRun(() -> {}).toCompletableFuture());
            }

            List<FerroException> failures = TcpJob.onAll(
                    groups,
                    group -> TcpJob.failure(() -> {
                        while (true) {
                            group.barrier();
                        }
                    }));

            failures.forEach(failure -> assertLacksThreads(rank, failure));
            stages.forEach(ScarceThreadsTest::awaitEnd);
        }
    }

    private static void awaitEnd(CompletableFuture<Void> stage) {
        try {
            Ranks.result(stage);
        } catch (CompletionException failed) {
            assertTrue(failed.getCause() instanceof FerroException, failed.getCause()::toString);
        }
    }
}
