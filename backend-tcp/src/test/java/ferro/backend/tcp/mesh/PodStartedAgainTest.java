package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.backend.tcp.net.Sockets;
import ferro.backend.tcp.net.Threads;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Kubernetes starts one pod again alone, with the same generation: the ranks of the old job end, and all join again. */
@Timeout(60)
class PodStartedAgainTest {
    private static final int RANKS = 3;

    private final int port;
    private final List<SystemContext> opened = new ArrayList<>();

    PodStartedAgainTest() throws IOException {
        port = Sockets.freePort();
    }

    @AfterEach
    void close() {
        opened.forEach(SystemContext::close);
    }

    private SystemContext pod(int rank) {
        SystemContext pod = SystemContext.of(Map.of(
                "JOB_COMPLETION_INDEX",
                "" + rank,
                "FERRO_WORLD_SIZE",
                "" + RANKS,
                "JOBSET_RESTART_ATTEMPT",
                "2",
                "MASTER_ADDR",
                "127.0.0.1",
                "MASTER_PORT",
                "" + port,
                "ferro.backend",
                "tcp",
                "ferro.timeout",
                "20s",
                "ferro.join.timeout",
                "20s"));
        opened.add(pod);
        return pod;
    }

    private static float sum(ProcessGroup group) {
        float[] data = {group.rank() + 1};
        group.allReduce(data, ReduceOp.SUM);
        return data[0];
    }

    /** The old process of rank 2 lives and answers, as on a machine that its cluster has given up. */
    @Test
    void ranksOfTheOldJobFailWhenARestartedPodReachesTheStore() {
        List<CompletableFuture<ProcessGroup>> joining = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            joining.add(Threads.start(pod(rank)::join));
        }
        List<ProcessGroup> old = joining.stream().map(Ranks::result).toList();
        List<CompletableFuture<Float>> ends = new ArrayList<>();
        for (ProcessGroup group : old) {
            ends.add(Threads.start(() -> sum(group)));
        }
        ends.forEach(end -> assertEquals(6, Ranks.result(end)));
        ends.clear();
        for (ProcessGroup group : old) {
            ends.add(Threads.start(() -> {
                while (true) {
                    sum(group);
                }
            }));
        }

        SystemContext again = pod(2);
        CompletableFuture<ProcessGroup> second = Threads.start(again::join);

        for (CompletableFuture<Float> end : ends) {
            FerroException failure = Ranks.failure(end);
            assertEquals(Code.PEER_LOST, failure.code(), failure.getMessage());
            assertEquals(Set.of(2), failure.where().culprits(), failure.getMessage());
            assertTrue(failure.getMessage().contains(" has been started again, as process "), failure.getMessage());
        }
        List.copyOf(opened.subList(0, RANKS)).forEach(SystemContext::close);
        List<CompletableFuture<ProcessGroup>> next =
                List.of(Threads.start(pod(0)::join), Threads.start(pod(1)::join), second);
        List<CompletableFuture<Float>> sums = next.stream()
                .map(Ranks::result)
                .map(group -> Threads.start(() -> sum(group)))
                .toList();
        sums.forEach(sum -> assertEquals(6, Ranks.result(sum)));
    }

    /** The others would wait for the process that is gone until the join timeout, which is 10 minutes. */
    @Test
    void ranksThatAreJoiningFailWhenAPodIsRestarted() throws InterruptedException {
        CompletableFuture<ProcessGroup> first = Threads.start(pod(0)::join);
        CompletableFuture<ProcessGroup> second = Threads.start(pod(1)::join);
        Threads.awaitInside(TcpJoin.class, "cards", 2);
        SystemContext again = pod(1);
        CompletableFuture<ProcessGroup> third = Threads.start(again::join);

        for (CompletableFuture<ProcessGroup> joining : List.of(first, second)) {
            FerroException failure = Ranks.failure(joining);
            assertEquals(Code.RENDEZVOUS, failure.code(), failure.getMessage());
            assertTrue(
                    failure.getMessage().contains("rank 1 of \"world\" has been started again, as process "),
                    failure.getMessage());
        }
        again.close();
        Ranks.failure(third);
    }
}
