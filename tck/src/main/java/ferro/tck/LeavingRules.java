package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.tck.cells.Cell;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules 610 and 611: a rank may leave as soon as its own calls have returned. */
public interface LeavingRules extends Subject {
    /**
     * Checks that a rank that has made its calls may close, even if a peer makes the same calls much later.
     *
     * @param what calls that the ranks make
     */
    @Rule(610)
    @ParameterizedTest(name = "{0}")
    @MethodSource("ferro.tck.LateRank#calls")
    default void ranksMayLeaveWhenTheirOwnCallsHaveReturned(String what) {
        needs(BackendContract.EARLY_LEAVES);
        switch (what) {
            case "messages" -> leaveAfterMessages();
            case "barrier" -> {
                for (int late = 0; late < 5; late++) {
                    new LateRank(this, 5, late, late % 2 == 0).run(what, ProcessGroup::barrier);
                }
            }
            case "unequal parts" -> leaveAfterUnequalParts();
            case "newGroup" -> leaveAfterNewGroup();
            default -> leaveAfter(CollectiveKind.parse(what));
        }
    }

    /** Returns the first rank for index 0, a middle rank for index 1, and the last rank for index 2. */
    private static int rank(int index, int worldSize) {
        return index * (worldSize - 1) / 2;
    }

    /**
     * Makes short calls in groups of five and of four ranks. In groups of three and of four ranks, makes calls whose
     * chunks are all longer than a segment. The root varies, and in some calls the root is the late rank. A selection has
     * one root for each of these four.
     */
    private void leaveAfter(CollectiveKind kind) {
        boolean toRoot = kind.out() == CollectiveKind.Held.ALL_ON_ROOT;
        for (int odd : new int[] {5, 3}) {
            int above = kind.hasParts() ? aboveASegment() : 4 * aboveASegment();
            int length = odd == 5 ? 5 : above;
            for (int index = runsSelection() ? 2 : 0; index < 3; index++) {
                int root = rank(index, odd);
                ReduceOp op = kind.combines() ? ReduceOp.SUM : null;
                new LateRank(this, odd, toRoot ? root : (root + 1) % odd, true)
                        .call(new Cell(kind, DataType.FLOAT32, op, length, root, false), true);
                new LateRank(this, 4, (index + odd) % 4, false)
                        .call(new Cell(kind, DataType.FLOAT32, op, length, (index + odd + 2) % 4, false), true);
            }
        }
    }

    private void leaveAfterUnequalParts() {
        for (int length : new int[] {1, aboveASegment() / 2}) {
            int worldSize = length == 1 ? 5 : 4;
            for (int late = runsSelection() ? worldSize - 1 : 0; late < worldSize; late += worldSize - 1) {
                LateRank ranks = new LateRank(this, worldSize, late, length == 1);
                Cell.ofUnequalParts(worldSize, length).stream()
                        .filter(cell -> !cell.inPlace() || cell.op() == ReduceOp.AVG)
                        .forEach(cell -> ranks.call(cell, false));
            }
        }
    }

    /** Sends a message from each rank to the next. The first rank leaves after its send, the last after its receive. */
    private void leaveAfterMessages() {
        for (int length : new int[] {3, 10_000, 3 * aboveASegment()}) {
            for (int index = 0; index < 3; index++) {
                int[] data = Expect.rising(length, 7 + index);
                for (boolean untilClosed : new boolean[] {true, false}) {
                    int worldSize = untilClosed ? 5 : 4;
                    LateRank ranks = new LateRank(this, worldSize, rank(index, worldSize), untilClosed);
                    ranks.run("messages of " + length, group -> {
                        for (int from = 0; from < worldSize - 1; from++) {
                            Expect.passes(group, from, from + 1, 0, data);
                        }
                    });
                }
            }
        }
    }

    /** Makes a new group, broadcasts in it, and closes it before its parent group. */
    private void leaveAfterNewGroup() {
        needs(BackendContract.SUBGROUPS);
        for (int index = 0; index < 3; index++) {
            for (boolean untilClosed : new boolean[] {true, false}) {
                int worldSize = untilClosed ? 5 : 4;
                int late = rank(index, worldSize);
                int root = (late + 1) % worldSize;
                new LateRank(this, worldSize, late, untilClosed).run("newGroup and a broadcast", group -> {
                    ProcessGroup part =
                            group.newGroup(IntStream.range(0, group.worldSize()).toArray());
                    int[] data = {group.rank() == root ? 41 : 0};
                    part.broadcast(data, root);
                    assertEquals(41, data[0], "element that rank " + root + " has broadcast");
                    part.close();
                });
            }
        }
    }

    /**
     * Checks that a call that needs a rank that has left fails and names that rank. Calls that do not need the rank
     * that has left still work. In each of several groups a different rank leaves.
     *
     * @param what call that needs the rank that has left; all remaining ranks make the call {@code newGroup}, but only
     *     one remaining rank makes any other call
     */
    @Rule(611)
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"barrier", "recv", "send", "newGroup"})
    default void callsThatDoNotNeedARankThatHasLeftContinue(String what) {
        needs(BackendContract.EARLY_LEAVES, BackendContract.SUBGROUPS, BackendContract.ABORT_ACROSS_RANKS);
        boolean byAll = what.equals("newGroup");
        List<CountDownLatch> failed = IntStream.range(0, 5)
                .mapToObj(leaver -> new CountDownLatch(byAll ? 4 : 1))
                .toList();
        try (EachRankLeaves groups = new EachRankLeaves(this, 5)) {
            List<List<Throwable>> outcomes = groups.outcomes((group, leaver) -> {
                int[] others =
                        IntStream.range(0, 5).filter(rank -> rank != leaver).toArray();
                talk(group, others, 5);
                talk(group, others, 100_000);
                try (ProcessGroup rest = group.newGroup(others)) {
                    Expect.works(rest);
                    if (byAll || group.rank() == (leaver + 1) % 5) {
                        failsWithout(leaver, group, what);
                        failed.get(leaver).countDown();
                    }
                    Expect.opens(failed.get(leaver), what + " without rank " + leaver);
                    Expect.works(rest);
                }
            });
            outcomes.forEach(Expect::well);
        }
    }

    /** Sends a message from each member to the next member. The members with even positions send first. */
    private static void talk(ProcessGroup group, int[] members, int length) {
        for (int parity = 0; parity < 2; parity++) {
            for (int position = parity; position < members.length; position += 2) {
                int next = members[(position + 1) % members.length];
                Expect.passes(group, members[position], next, 0, Expect.rising(length, members[position] + 2));
            }
        }
    }

    private static void failsWithout(int leaver, ProcessGroup group, String what) {
        ProcessGroup patient = group.within(Duration.ofSeconds(10));
        FerroException failure = Expect.fails(
                each -> {
                    switch (what) {
                        case "barrier" -> patient.barrier();
                        case "recv" -> patient.recv(new int[1], leaver, 0);
                        case "send" -> patient.send(new int[100_000], leaver, 0);
                        default -> patient.newGroup(group.rank(), leaver).close();
                    }
                },
                group,
                Code.PEER_LOST);
        Expect.blames(failure, leaver);
        Expect.says(failure, "rank " + leaver + " left");
    }
}
