package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.mesh.TcpMesh;
import ferro.backend.tcp.store.JoiningContext;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The process that serves the store dies; the store of these ranks is served by none of them, as under the launcher. */
@Timeout(60)
class StoreGoneTest {
    @Test
    @DisplayName("row 22: when the store dies, groups go on and can be split, and new joins fail at once")
    void groupsContinueWithoutTheStoreAndNewJoinsFailAtOnce() {
        try (TcpJob job = TcpJob.of(3)) {
            List<SystemContext> contexts = List.of(job.context(), job.context(), job.context());
            List<ProcessGroup> groups = job.joined("g", contexts);

            job.store.close();

            TcpJob.onAll(groups, group -> AbortBesideSiblingTest.sum(group, 3, 1_000));
            TcpJob.onAll(groups, group -> AbortBesideSiblingTest.sum(group.newGroup(2, 0, 1), 5, 1_000));
            TcpJob.onAll(
                    groups,
                    group -> AbortBesideSiblingTest.sum(
                            group.split(group.rank() % 2, 0).orElseThrow(), 7, 1_000));
            long start = System.nanoTime();
            FerroException failure = Ranks.failure(job.joining("other", 1, contexts.get(1)));
            long took = System.nanoTime() - start;
            groups.forEach(ProcessGroup::close);

            Ranks.assertSays(failure, Code.RENDEZVOUS, "was reached before and is gone now");
            assertTrue(took < TimeUnit.SECONDS.toNanos(5), "not at once");
        }
    }

    @Test
    @DisplayName("row 22: a rank that waits for others when the store dies fails at once and says for whom it waited")
    void aJoinFailsAtOnceIfTheStoreDies() {
        try (Ranks ranks = Ranks.onLoopback()) {
            CompletableFuture<TcpMesh> waiting = ranks.join(0, 3, Ranks.LONG);
            JoiningContext watching = ranks.context(GroupSpec.of("g", 1, 3, Ranks.LONG), Map.of());
            watching.store().get("g/1/card/0", Ranks.LONG);
            long start = System.nanoTime();

            ranks.server.close();

            Ranks.assertSays(Ranks.failure(waiting), Code.RENDEZVOUS, "waiting for ranks [1, 2] of 3", "went away");
            assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(5), "not at once");
        }
    }
}
