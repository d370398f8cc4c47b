package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules 610 and 611: a rank may leave as soon as its own calls have returned. */
public interface LeavingRules extends Subject {
    /**
     * A rank that has made its calls may close, even if a peer makes the same calls much later.
     *
     * @param what calls
     */
    @Rule(610)
    @ParameterizedTest(name = "{0}")
    @ValueSource(
            strings = {
                "broadcast",
                "messages",
                "reduce",
                "gather",
                "scatter",
                "allReduce",
                "allGather",
                "reduceScatter",
                "allToAll",
                "barrier",
                "unequal parts",
                "newGroup"
            })
    default void ranksMayLeaveWhenTheirOwnCallsHaveReturned(String what) {
        needs(BackendContract.EARLY_LEAVES);
        switch (what) {
            case "messages" -> leaveAfterMessages();
            case "barrier" -> {
                for (int late = 0; late < 3; late++) {
                    new LateRank(this, late, late < 2).run(what, ProcessGroup::barrier);
                }
            }
            case "unequal parts" -> {
                for (String kind : UnequalParts.KINDS) {
                    leaveAfterUnequalParts(kind);
                }
            }
            case "newGroup" -> leaveAfterNewGroup();
            default -> leaveAfter(CollectiveKind.parse(what));
        }
    }

    /** Makes short calls, and calls whose chunks are all above a segment; with every root, and also with the root late. */
    private void leaveAfter(CollectiveKind kind) {
        boolean toRoot = kind.out() == CollectiveKind.Held.ALL_ON_ROOT;
        for (int length : new int[] {5, kind.hasParts() ? aboveASegment() : 4 * aboveASegment()}) {
            for (int root = 0; root < 3; root++) {
                new LateRank(this, toRoot ? root : (root + 1) % 3, true).call(kind, length, root);
                new LateRank(this, (root + 2) % 3, false).call(kind, length, root);
            }
        }
    }

    private void leaveAfterUnequalParts(String kind) {
        for (int unit : new int[] {1, aboveASegment() / 2}) {
            for (int late = 0; late < 3; late += 2) {
                Ranks.RankCode call = group -> new UnequalParts(this, group, unit).check(kind);
                new LateRank(this, late, unit == 1).run(kind + " of unequal parts of " + unit, call);
            }
        }
    }

    /** Sends a message from rank to rank: the first rank leaves when it has sent, the last when it has received. */
    private void leaveAfterMessages() {
        for (int length : new int[] {3, 10_000, 3 * aboveASegment()}) {
            for (int late = 0; late < 3; late++) {
                float[] need = Expect.floats(length, 3);
                for (boolean untilClosed : new boolean[] {true, false}) {
                    new LateRank(this, late, untilClosed).run("messages of " + length, group -> {
                        float[] data = group.rank() == 0 ? need.clone() : new float[length];
                        if (group.rank() > 0) {
                            group.recv(data, group.rank() - 1, 0);
                        }
                        if (group.rank() < group.worldSize() - 1) {
                            group.send(data, group.rank() + 1, 0);
                        }
                        Expect.same(need, data, () -> "message on rank " + group.rank());
                    });
                }
            }
        }
    }

    /** Makes a new group, which is closed before its parent, or by the close of its parent. */
    private void leaveAfterNewGroup() {
        needs(BackendContract.SUBGROUPS);
        for (int late = 0; late < 3; late++) {
            for (boolean untilClosed : new boolean[] {true, false}) {
                int root = (late + 1) % 3;
                new LateRank(this, late, untilClosed).run("newGroup and a broadcast", group -> {
                    ProcessGroup part =
                            group.newGroup(IntStream.range(0, group.worldSize()).toArray());
                    int[] data = {group.rank() == root ? 41 : 0};
                    part.broadcast(data, root);
                    assertEquals(41, data[0], "what rank " + root + " has broadcast");
                    part.close();
                });
            }
        }
    }

    /**
     * A call that needs a rank that has left fails and names it; calls that do not need it go on.
     *
     * @param what call of rank 0 that needs the rank that has left
     */
    @Rule(611)
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"barrier", "recv", "send", "newGroup"})
    default void whatDoesNotNeedARankThatHasLeftGoesOn(String what) {
        needs(BackendContract.EARLY_LEAVES);
        needs(BackendContract.SUBGROUPS);
        needs(BackendContract.ABORT_ACROSS_RANKS);
        CountDownLatch left = new CountDownLatch(1);
        CountDownLatch gone = new CountDownLatch(1);
        try (Ranks ranks = group(3)) {
            List<Throwable> ends = ranks.outcomes(Ranks.LIMIT, group -> {
                Expect.works(group);
                if (group.rank() == 2) {
                    group.close(Ranks.LEAVE_BOUND);
                    left.countDown();
                    return;
                }
                assertTrue(left.await(10, TimeUnit.SECONDS), "rank 2 has not closed");
                talk(group, 5);
                talk(group, 100_000);
                try (ProcessGroup both = group.newGroup(1, 0)) {
                    Expect.works(both);
                    if (group.rank() == 0) {
                        failsWithoutRankTwo(group, what);
                        gone.countDown();
                    }
                    assertTrue(gone.await(20, TimeUnit.SECONDS), "rank 0 has not failed without rank 2");
                    Expect.works(both);
                }
            });
            Expect.well(ends);
        }
    }

    private static void talk(ProcessGroup group, int length) {
        float[] data = group.rank() == 0 ? Expect.floats(length, 2) : new float[length];
        if (group.rank() == 0) {
            group.send(data, 1, 0);
        } else {
            group.recv(data, 0, 0);
        }
        Expect.same(Expect.floats(length, 2), data, () -> "message on rank " + group.rank());
    }

    private static void failsWithoutRankTwo(ProcessGroup group, String what) {
        ProcessGroup patient = group.within(Duration.ofSeconds(10));
        FerroException failure = Expect.fails(
                each -> {
                    switch (what) {
                        case "barrier" -> patient.barrier();
                        case "recv" -> patient.recv(new int[1], 2, 0);
                        case "send" -> patient.send(new int[100_000], 2, 0);
                        default -> patient.newGroup(0, 2).close();
                    }
                },
                group,
                Code.PEER_LOST);
        Expect.blames(failure, 2);
        Expect.says(failure, "rank 2 left");
    }
}
