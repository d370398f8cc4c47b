package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.Sockets;
import ferro.backend.tcp.net.Threads;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Groups that are joined by options, over real sockets: each group closes what its join has opened. */
@Timeout(120)
class JoinedGroupTest {
    private static final int RANKS = 3;
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Duration CALLS = Duration.ofMillis(200);

    /** Options of a rank, of which rank 0 serves the store at a port that all ranks know. */
    private static JoinOptions options(int rank, int port) {
        JoinOptions options = JoinOptions.of(rank, RANKS)
                .local(rank, RANKS)
                .job("app", 0)
                .timeout(Duration.ofSeconds(20))
                .setting("ferro.backend", "tcp");
        return rank == 0 ? options.serveStore("127.0.0.1", "" + port) : options.storeAt("127.0.0.1:" + port);
    }

    /** The code of a rank, which may join again at the port of the store. */
    private interface CodeOfRank {
        int run(ProcessGroup group, int port);
    }

    private static List<Integer> onAllRanks(ToIntFunction<ProcessGroup> code) throws IOException {
        return onAllRanks((group, port) -> code.applyAsInt(group));
    }

    private static List<Integer> onAllRanks(CodeOfRank code) throws IOException {
        int port = Sockets.freePort();
        List<CompletableFuture<Integer>> running = IntStream.range(0, RANKS)
                .mapToObj(rank -> Threads.start(() -> {
                    try (ProcessGroup group = ProcessGroup.join(options(rank, port))) {
                        return code.run(group, port);
                    }
                }))
                .toList();
        return running.stream().map(Ranks::result).toList();
    }

    private static int sum(ProcessGroup group) {
        int[] data = {group.rank() + 2};
        group.allReduce(data, ReduceOp.SUM);
        return data[0];
    }

    @Test
    void theCloseOfAGroupLeavesNoThreadAndNoDescriptor() throws IOException {
        // the first job loads classes, whose files stay open
        assertEquals(List.of(9, 9, 9), onAllRanks(JoinedGroupTest::sum));
        Held before = Held.now();

        assertEquals(List.of(9, 9, 9), onAllRanks(JoinedGroupTest::sum));

        before.awaitNoMore(Held::now, LIMIT);
    }

    @Test
    void aSubgroupOutlivesTheGroupThatItWasMadeOf() throws IOException {
        List<Integer> sums = onAllRanks(group -> {
            try (ProcessGroup reversed = group.newGroup(2, 1, 0)) {
                group.close();
                assertThrows(IllegalStateException.class, group::barrier);
                return sum(reversed) + 10 * reversed.rank();
            }
        });
        assertEquals(List.of(29, 19, 9), sums);
    }

    @Test
    void aRankJoinsASecondGroupByTheStoreOfItsFirst() throws IOException {
        List<Integer> sums = onAllRanks((group, port) -> {
            JoinOptions second = options(group.rank(), port).group("second").storeAt("127.0.0.1:" + port);
            try (ProcessGroup other = ProcessGroup.join(second)) {
                return sum(other) + sum(group);
            }
        });
        assertEquals(List.of(18, 18, 18), sums);
    }

    @Test
    @DisplayName("row 23: a rank that comes later than the deadline of calls is waited for")
    void aRankThatJoinsLaterThanTheCallTimeoutIsWaitedFor() throws IOException {
        int port = Sockets.freePort();
        try (SystemContext first = context(0, port);
                SystemContext second = context(1, port)) {
            CompletableFuture<ProcessGroup> waiting = Threads.start(first::join);
            assertThrows(TimeoutException.class, () -> waiting.get(3 * CALLS.toMillis(), TimeUnit.MILLISECONDS));

            CompletableFuture<ProcessGroup> late = Threads.start(second::join);

            assertEquals(0, Ranks.result(waiting).rank());
            assertEquals(1, Ranks.result(late).rank());
        }
    }

    /** Returns the context of one of two ranks, whose settings have a short deadline of calls and none of joining. */
    private static SystemContext context(int rank, int port) {
        return SystemContext.of(Map.of(
                "ferro.timeout",
                CALLS.toMillis() + "ms",
                "ferro.backend",
                "tcp",
                "RANK",
                "" + rank,
                "WORLD_SIZE",
                "2",
                "MASTER_ADDR",
                "127.0.0.1",
                "MASTER_PORT",
                "" + port));
    }

    @Test
    void aJoinThatFailsLeavesNoThreadAndNoDescriptor() throws IOException {
        failsWithoutRankOne();
        Held before = Held.now();

        failsWithoutRankOne();

        before.awaitNoMore(Held::now, LIMIT);
    }

    private static void failsWithoutRankOne() throws IOException {
        int port = Sockets.freePort();
        List<CompletableFuture<ProcessGroup>> joining = IntStream.of(0, 2)
                .mapToObj(rank -> options(rank, port).joinTimeout(Duration.ofMillis(400)))
                .map(options -> Threads.start(() -> ProcessGroup.join(options)))
                .toList();
        for (CompletableFuture<ProcessGroup> one : joining) {
            Throwable failure = assertThrows(CompletionException.class, () -> Ranks.result(one))
                    .getCause();
            assertTrue(failure instanceof FerroException, failure::toString);
            assertEquals(Code.RENDEZVOUS, ((FerroException) failure).code(), failure.getMessage());
        }
    }
}
