package ferro.backend.nccl.comm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A rank may leave as soon as its own calls have returned: it fails nobody who is still in one of them. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class NcclLeavingTest {
    private static final int SIZE = 3;
    private static final int LOOPS = 30;
    private static final Duration SOON = Duration.ofSeconds(3);
    /** A rank that is late comes when another one has left, or after so long. */
    private static final long LATE_MILLIS = 20;

    @BeforeEach
    void leaveEarly() {
        StandInHooks.standInEarlyReturns(1);
        StandInHooks.standInTail(2_000);
    }

    /** Makes the call of a rank, which returns what it has then got. */
    private static float[] call(CollectiveBackend group, String kind, int root) {
        float[] one = {group.rank() + 2};
        float[] all = new float[SIZE];
        HostTensor mine = HostTensor.of(one);
        HostTensor whole = HostTensor.of(all);
        boolean owns = group.rank() == root;
        Collective made = switch (kind) {
            case "allReduce" -> Collective.allReduce(mine, ReduceOp.SUM);
            case "broadcast" -> Collective.broadcast(mine, root);
            case "reduce" -> Collective.reduce(mine, ReduceOp.SUM, root);
            case "allGather" -> Collective.allGather(mine, whole);
            case "reduceScatter" -> {
                System.arraycopy(new float[] {2, 3, 4}, 0, all, 0, SIZE);
                yield Collective.reduceScatter(whole, mine, ReduceOp.SUM);
            }
            case "gather" -> owns ? Collective.gather(mine, whole, root) : Collective.gather(mine, root);
            case "scatter" -> {
                System.arraycopy(new float[] {2, 3, 4}, 0, all, 0, SIZE);
                yield owns ? Collective.scatter(whole, mine, root) : Collective.scatter(mine, root);
            }
            case "allToAll" -> {
                System.arraycopy(new float[] {5, 6, 7}, 0, all, 0, SIZE);
                yield Collective.allToAll(whole, HostTensor.of(new float[SIZE]));
            }
            default -> Collective.barrier();
        };
        group.run(made, SOON);
        return kind.equals("allGather") || kind.equals("gather") && owns ? all : one;
    }

    private static float[] expected(String kind, int rank, int root) {
        return switch (kind) {
            case "allReduce" -> new float[] {9};
            case "broadcast" -> new float[] {root + 2};
            case "reduce" -> new float[] {rank == root ? 9 : rank + 2};
            case "allGather" -> new float[] {2, 3, 4};
            case "reduceScatter" -> new float[] {3 * (rank + 2)};
            case "gather" -> rank == root ? new float[] {2, 3, 4} : new float[] {rank + 2};
            default -> new float[] {rank + 2};
        };
    }

    /** Waits a little for another rank to leave, which it does at once where it does not wait for this one. */
    private static void beLate(CompletableFuture<?> left) throws Exception {
        try {
            left.get(LATE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException waits) {
            // it waits for this rank
        }
    }

    private static void allEndWell(String what, List<Throwable> outcomes) {
        for (int rank = 0; rank < outcomes.size(); rank++) {
            Throwable outcome = outcomes.get(rank);
            assertNull(outcome, () -> what + ": " + outcome);
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(
            strings = {
                "allReduce",
                "broadcast",
                "reduce",
                "allGather",
                "reduceScatter",
                "gather",
                "scatter",
                "allToAll",
                "barrier"
            })
    @DisplayName("a rank that closes as soon as its last collective has returned fails none that is late in it")
    @Tag("long")
    void whoHasReturnedMayLeave(String kind) {
        for (int turn = 0; turn < LOOPS; turn++) {
            int root = turn % SIZE;
            int late = (turn / SIZE + root + 1) % SIZE;
            try (NcclRanks ranks = NcclRanks.of(SIZE, SOON)) {
                CompletableFuture<Void> left = new CompletableFuture<>();
                allEndWell(kind + " turn " + turn, ranks.outcomes(rank -> {
                    rank.run(Collective.barrier(), SOON);
                    if (rank.rank() == late) {
                        beLate(left);
                    }
                    float[] got = call(rank, kind, root);
                    assertArrayEquals(expected(kind, rank.rank(), root), got, "rank " + rank.rank());
                    rank.close();
                    left.complete(null);
                }));
            }
        }
    }

    @Test
    @DisplayName("a rank that closes as soon as its send has returned fails no receiver that is late")
    void aSenderMayLeave() {
        for (int turn = 0; turn < LOOPS; turn++) {
            try (NcclRanks ranks = NcclRanks.of(SIZE, SOON)) {
                CompletableFuture<Void> left = new CompletableFuture<>();
                allEndWell("turn " + turn, ranks.outcomes(rank -> {
                    int self = rank.rank();
                    float[] data = {self + 3, self + 5};
                    if (self > 0) {
                        beLate(left);
                        rank.recv(HostTensor.of(data), self - 1, 0, SOON).await();
                        assertArrayEquals(new float[] {3, 5}, data);
                    }
                    if (self < SIZE - 1) {
                        rank.send(HostTensor.of(data), self + 1, 0, SOON).await();
                    }
                    rank.close();
                    left.complete(null);
                }));
            }
        }
    }

    @Test
    @DisplayName("barrier, newGroup, broadcast, and both groups closed at once: no rank fails another")
    void aRankMayLeaveASubgroupAndItsParent() {
        for (int turn = 0; turn < LOOPS; turn++) {
            int root = turn % SIZE;
            try (NcclRanks ranks = NcclRanks.of(SIZE, SOON)) {
                CompletableFuture<Void> left = new CompletableFuture<>();
                allEndWell("turn " + turn, ranks.outcomes(rank -> {
                    rank.run(Collective.barrier(), SOON);
                    CollectiveBackend part = rank.newGroup(new int[] {0, 1, 2}, "[0, 1, 2]", SOON);
                    if (part.rank() == (root + 1) % SIZE) {
                        beLate(left);
                    }
                    assertArrayEquals(expected("broadcast", part.rank(), root), call(part, "broadcast", root));
                    part.close();
                    rank.close();
                    left.complete(null);
                }));
            }
        }
    }

    @Test
    @DisplayName("a rank that leaves fails no newGroup of others")
    void newGroupsOfOthersGoOn() {
        for (int turn = 0; turn < LOOPS; turn++) {
            int leaver = turn % SIZE;
            try (NcclRanks ranks = NcclRanks.of(SIZE, SOON)) {
                CompletableFuture<Void> left = new CompletableFuture<>();
                AtomicReference<String> seen = new AtomicReference<>("");
                allEndWell("turn " + turn, ranks.outcomes(rank -> {
                    if (rank.rank() != leaver) {
                        beLate(left);
                        int[] members = {(leaver + 1) % SIZE, (leaver + 2) % SIZE};
                        try (CollectiveBackend part = rank.newGroup(members, "pair", SOON)) {
                            part.run(Collective.barrier(), SOON);
                        }
                        seen.accumulateAndGet("+", String::concat);
                    }
                    rank.close();
                    left.complete(null);
                }));
                assertEquals("++", seen.get(), "pairs made");
            }
        }
    }
}
