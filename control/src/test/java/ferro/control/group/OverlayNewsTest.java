package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.control.failure.ControlMessage.Abort;
import ferro.control.failure.ControlMessage.LeaveReport;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.spi.CallHeader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Failures and leaves in groups in which no rank sends them to all others: receivers and numbers of messages. */
class OverlayNewsTest {
    private static final Duration GRACE = Duration.ofMillis(10);
    private static final int SIZE = 40;

    /** The size of the largest full mesh in this test. */
    private static final int FORCED = 4;

    private static int bound(int worldSize) {
        int log = 32 - Integer.numberOfLeadingZeros(worldSize - 1);
        return 2 * log + 8;
    }

    private static void assertFewMessages(HandDriven group, int worldSize) {
        for (int rank = 0; rank < worldSize; rank++) {
            int sent = group.sentBy[rank];
            assertTrue(sent <= bound(worldSize), "rank " + rank + " of " + worldSize + " has sent " + sent);
        }
    }

    private static void kill(HandDriven group, int worldSize, Set<Integer> dead) {
        dead.forEach(group::stop);
        for (int rank = 0; rank < worldSize; rank++) {
            for (int gone : dead) {
                if (!dead.contains(rank)) {
                    String text = "rank " + gone + " is gone (seen by rank " + rank + ")";
                    Where where = Where.of("dp", rank).blaming(gone);
                    group.ranks.get(rank).lost(gone, new FerroException(Code.PEER_LOST, where, text));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 128, 256, 1024})
    @DisplayName("the death of a rank costs each other rank at most 2 log n + 8 messages, and all agree on it")
    void aDeathCostsEachRankAtMost2LogNPlus8Messages(int worldSize) {
        HandDriven group = new HandDriven(worldSize);
        kill(group, worldSize, Set.of(7));
        group.pass(GRACE);
        group.deliverInTurn();
        group.pass(Duration.ofMillis(500));
        group.deliverInTurn();

        assertFewMessages(group, worldSize);
        int sent = group.sent(Abort.class);
        assertTrue(sent <= (worldSize - 1) * (bound(worldSize) - 8), sent + " messages of the failure");
        for (int rank = 0; rank < worldSize; rank++) {
            if (rank != 7) {
                Failure failure = group.ranks.get(rank).failure();
                assertNotNull(failure, "rank " + rank);
                assertEquals(Code.PEER_LOST, failure.code());
                assertEquals(Set.of(7), failure.culprits());
                assertEquals(Set.of(7), group.lostAtFailure.get(rank), "known to be dead before calls fail");
                assertEquals(group.story(0), group.story(rank), "one text");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 256, 1024})
    @DisplayName("the leave of a rank costs each rank at most 2 log n + 8 messages, and all hear of it")
    void aLeaveCostsEachRankAtMost2LogNPlus8Messages(int worldSize) {
        HandDriven group = new HandDriven(worldSize);
        boolean[] over = new boolean[1];
        leave(group, 7).whenOver(() -> over[0] = true);
        group.deliverInTurn();

        assertTrue(over[0]);
        assertFewMessages(group, worldSize);
        for (int rank = 0; rank < worldSize; rank++) {
            assertEquals(
                    rank == 7 ? -1 : 7, group.ranks.get(rank).exits().leavers().before(1), "on rank " + rank);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 256, 1024})
    @DisplayName("a close of all ranks at once costs each rank at most 2 log n + 8 messages")
    void aCloseOfAllRanksCostsEachAtMost2LogNPlus8Messages(int worldSize) {
        HandDriven group = new HandDriven(worldSize);
        BitSet over = new BitSet();
        for (int rank = 0; rank < worldSize; rank++) {
            int leaver = rank;
            leave(group, leaver).whenOver(() -> over.set(leaver));
        }
        group.deliverInTurn();

        assertEquals(worldSize, over.cardinality());
        assertFewMessages(group, worldSize);
    }

    @Test
    @DisplayName("ranks that leave one after the other, the highest first, cause few messages")
    void ranksThatLeaveInTurnCauseFewMessages() {
        int worldSize = 256;
        HandDriven group = new HandDriven(worldSize);
        for (int rank = worldSize - 1; rank > 0; rank--) {
            leave(group, rank);
            group.deliverInTurn();
        }
        int sent = IntStream.of(group.sentBy).sum();
        assertTrue(sent <= worldSize * 8 * bound(worldSize), sent + " messages");
    }

    @Test
    void theOverlaySendsFewerMessagesThanTheFullMesh() {
        for (int worldSize : new int[] {8, 16, SIZE}) {
            HandDriven forced = HandDriven.withMesh(worldSize, FORCED, FailurePolicy.SHIPPED);
            HandDriven mesh = HandDriven.withMesh(worldSize, worldSize, FailurePolicy.SHIPPED);
            for (HandDriven group : List.of(forced, mesh)) {
                group.ranks.get(0).fail(new Failure(Code.ABORTED, 0, -1, Set.of(0), "rank 0 aborted", null));
                group.deliverAll();
            }
            assertEquals(worldSize * (worldSize - 1), mesh.sent(Abort.class));
            assertTrue(
                    forced.sent(Abort.class) < mesh.sent(Abort.class) * 9 / 10, forced.sent(Abort.class) + " messages");
            assertEquals(Code.ABORTED, forced.ranks.get(worldSize - 1).failure().code());
        }
    }

    @Test
    @DisplayName("random sets of as many dead ranks as a rank has neighbours less one: all others agree on dead ranks")
    void survivorsOfAnyDeathsAgreeOnDeadRanks() {
        HandDriven.seeds(25, seed -> {
            Random random = new Random(seed);
            List<Integer> order =
                    new ArrayList<>(IntStream.range(0, SIZE).boxed().toList());
            Collections.shuffle(order, random);
            assertAgreeWithout(random, Set.copyOf(order.subList(0, 1 + random.nextInt(9))));
        });
    }

    @Test
    @DisplayName("adjacent ranks that die together, as the ranks of one or two hosts: all others agree on dead ranks")
    void survivorsAgreeOnDeadRanksIfHostsDie() {
        HandDriven.seeds(25, seed -> {
            Random random = new Random(seed);
            int one = 8 * (seed % 5);
            int other = 8 * (seed / 5);
            List<Integer> dead = new ArrayList<>();
            IntStream.range(0, SIZE)
                    .filter(rank -> rank / 8 == one / 8 || rank / 8 == other / 8)
                    .forEach(dead::add);
            assertAgreeWithout(random, Set.copyOf(dead));
        });
    }

    private static void assertAgreeWithout(Random random, Set<Integer> dead) {
        HandDriven group = HandDriven.withMesh(SIZE, FORCED, FailurePolicy.SHIPPED);
        kill(group, SIZE, dead);
        for (int wait = 0; wait < 10; wait++) {
            group.pass(GRACE);
            group.deliverAll(random, false);
        }
        String first = null;
        for (int rank = 0; rank < SIZE; rank++) {
            if (!dead.contains(rank)) {
                Failure failure = group.ranks.get(rank).failure();
                assertNotNull(failure, "rank " + rank + " does not know of " + dead);
                assertTrue(
                        dead.containsAll(failure.culprits())
                                && !failure.culprits().isEmpty(),
                        failure::toString);
                String story = failure.code() + " of " + failure.culprits();
                first = first == null ? story : first;
                assertEquals(first, story, "rank " + rank + " of those without " + dead);
            }
        }
    }

    /** A run in which ranks leave in any order. It records the remaining ranks and the earliest leave. */
    private static final class Leaving {
        final HandDriven group;
        final BitSet remaining = new BitSet();
        int lowest = -1;
        long lowestSequence = Long.MAX_VALUE;

        /** Lets half of the ranks leave, including some adjacent ranks. Each rank closes when its leave is over. */
        Leaving(Random random, FailurePolicy rules) {
            group = HandDriven.withMesh(SIZE, FORCED, rules);
            List<Integer> order =
                    new ArrayList<>(IntStream.range(0, SIZE).boxed().toList());
            Collections.shuffle(order, random);
            remaining.set(0, SIZE);
            int first = random.nextInt(SIZE);
            for (int at = 0; at < SIZE / 2; at++) {
                // the first six ranks are adjacent and leave at about the same time
                int rank = at < 6 ? (first + at) % SIZE : order.get(at);
                if (remaining.get(rank)) {
                    leave(rank, 1 + random.nextInt(3));
                    group.deliver(random, at < 6 ? random.nextInt(3) : random.nextInt(60));
                }
            }
            group.deliverAll(random, false);
            for (int hop = 0; hop < 12; hop++) {
                // a leave with an equal last collective and a lower rank is forwarded later
                group.pass(Duration.ofMillis(50));
                group.deliverAll(random, false);
            }
        }

        private void leave(int rank, long sequence) {
            CallHeader call = CallHeader.of(9, sequence, 77, "barrier");
            group.ranks.get(rank).called(sequence, call.call());
            group.ended[rank] = sequence;
            remaining.clear(rank);
            if (sequence < lowestSequence || sequence == lowestSequence && rank < lowest) {
                lowest = rank;
                lowestSequence = sequence;
            }
            OverlayNewsTest.leave(group, rank).whenOver(() -> group.close(rank));
        }

        /** Returns one of the remaining ranks. */
        int any(Random random) {
            return remaining.stream()
                    .skip(random.nextInt(remaining.cardinality()))
                    .findFirst()
                    .orElseThrow();
        }

        /** Checks that each remaining rank knows the earliest leave, and that a failure because of it reaches all. */
        void check(Random random) {
            remaining.stream().forEach(rank -> {
                Leavers known = group.ranks.get(rank).exits().leavers();
                assertEquals(lowest, known.before(lowestSequence + 1), "lowest leaver on rank " + rank);
            });
            int caller = any(random);
            group.ranks.get(caller).exits().refuse(lowestSequence + 1, new CallHeader.Call(9, 78, "allReduce"));
            group.pass(Duration.ofMillis(50));
            group.deliverAll(random, false);
            remaining.stream().forEach(rank -> {
                Failure failure = group.ranks.get(rank).failure();
                assertNotNull(failure, "rank " + rank + " does not know what rank " + caller + " has sent");
                assertEquals(Code.PEER_LOST, failure.code());
                assertTrue(failure.culprits().contains(lowest), failure.text());
                failure.culprits().forEach(left -> assertEquals(lowestSequence, group.ended[left], failure.text()));
            });
        }
    }

    private static GracefulExit leave(HandDriven group, int rank) {
        return group.ranks.get(rank).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_ALL);
    }

    @Test
    @DisplayName("half of the ranks leave in any order: the others know the lowest leaver, and agree on a failure")
    void remainingRanksReceiveTheLowestLeaveAndAgreeOnAFailure() {
        HandDriven.seeds(30, seed -> {
            Random random = new Random(seed);
            new Leaving(random, FailurePolicy.SHIPPED).check(random);
        });
    }

    @Test
    @DisplayName("after half of the ranks have left, the death of each other rank is known to all")
    void remainingRanksReceiveADeathAfterLeaves() {
        HandDriven.seeds(20, seed -> {
            Random random = new Random(seed);
            Leaving run = new Leaving(random, FailurePolicy.SHIPPED);
            int dead = run.any(random);
            run.remaining.clear(dead);
            run.group.stop(dead);
            run.remaining.stream().forEach(rank -> run.group.lost(rank, dead));
            run.group.pass(GRACE);
            run.group.deliverAll(random, false);
            run.remaining.stream().forEach(rank -> {
                Failure failure = run.group.ranks.get(rank).failure();
                assertNotNull(failure, "rank " + rank + " does not know that rank " + dead + " is dead");
                assertEquals(Set.of(dead), failure.culprits());
            });
        });
    }

    @Test
    @DisplayName("a rank is killed between two of its goodbyes, after others have left: all others agree on it")
    void survivorsAgreeOnARankThatIsKilledWhileItLeaves() {
        int[] failed = new int[2];
        HandDriven.seeds(16, seed -> {
            Random random = new Random(seed);
            Leaving run = new Leaving(random, FailurePolicy.SHIPPED);
            int dead = run.any(random);
            run.remaining.clear(dead);
            // its leave is not the earliest, so only ranks that receive its goodbye know of it
            run.group.ranks.get(dead).called(5, new CallHeader.Call(9, 77, "barrier"));
            leave(run.group, dead);
            run.group.stop(dead);
            boolean anyLost = random.nextBoolean();
            run.remaining.stream()
                    .filter(rank -> anyLost && random.nextBoolean())
                    .forEach(rank -> run.group.drop(dead, rank));
            run.group.deliverAll(random, false);
            run.remaining.stream().forEach(rank -> run.group.lost(rank, dead));
            for (int wait = 0; wait < 10; wait++) {
                run.group.pass(GRACE);
                run.group.deliverAll(random, false);
            }
            Set<String> stories = run.remaining.stream()
                    .mapToObj(rank -> run.group.ranks.get(rank).failure())
                    .map(failure -> failure == null ? "none" : failure.code() + " of " + failure.culprits())
                    .collect(Collectors.toSet());
            assertEquals(1, stories.size(), stories::toString);
            String story = stories.iterator().next();
            assertTrue(story.equals("none") || story.equals("PEER_LOST of [" + dead + "]"), story);
            failed[story.equals("none") ? 0 : 1]++;
        });
        assertTrue(failed[0] > 0 && failed[1] > 0, failed[1] + " of 16 have failed");
    }

    @Test
    @DisplayName("hosts 1, 2, 4, 5 and 7 of eight leave in turn, then host 3 dies: the other two hosts agree on it")
    void theLastHostsAgreeOnADeadHostWhoseFirstNeighboursHaveLeft() {
        HandDriven group = new HandDriven(64);
        for (int host : new int[] {1, 2, 4, 5, 7}) {
            for (int rank = 8 * host; rank < 8 * host + 8; rank++) {
                int leaver = rank;
                leave(group, leaver).whenOver(() -> group.close(leaver));
            }
            group.deliverInTurn();
            group.pass(Duration.ofSeconds(1));
            group.deliverInTurn();
        }
        Set<Integer> dead = IntStream.range(24, 32).boxed().collect(Collectors.toSet());
        dead.forEach(group::stop);
        List<Integer> others = IntStream.range(0, 64)
                .filter(rank -> rank / 8 == 0 || rank / 8 == 6)
                .boxed()
                .toList();
        others.forEach(rank -> dead.forEach(gone -> group.lost(rank, gone)));
        for (int wait = 0; wait < 10; wait++) {
            group.pass(GRACE);
            group.deliverInTurn();
        }
        for (int rank : others) {
            assertNotNull(group.ranks.get(rank).failure(), "rank " + rank + " does not know that host 3 is dead");
            assertTrue(dead.containsAll(group.ranks.get(rank).failure().culprits()), group.story(rank));
            assertEquals(
                    group.ranks.get(0).failure().culprits(),
                    group.ranks.get(rank).failure().culprits());
        }
    }

    @Test
    @DisplayName("a rank that has left is no cause when its process ends")
    void theEndOfARankThatLeftIsNotAFailure() {
        HandDriven.seeds(20, seed -> {
            Random random = new Random(seed);
            Leaving run = new Leaving(random, FailurePolicy.SHIPPED);
            for (int leaver = 0; leaver < SIZE; leaver++) {
                int gone = leaver;
                if (!run.remaining.get(gone)) {
                    run.remaining.stream().forEach(rank -> run.group.lost(rank, gone));
                }
            }
            run.group.pass(Duration.ofSeconds(1));
            run.group.deliverAll(random, false);
            run.remaining.stream()
                    .forEach(rank -> assertNull(run.group.ranks.get(rank).failure()));
        });
    }

    @Test
    @DisplayName("a planted mistake is found: a rank keeps the first leaver that it hears of")
    void aPolicyThatKeepsTheFirstLeaveFailsTheCheck() {
        assertFound(new FailurePolicy() {
            @Override
            public LeaveReport lowest(LeaveReport known, LeaveReport other) {
                return known;
            }
        });
    }

    @Test
    @DisplayName("a planted mistake is found: a rank forwards no failure")
    void aPolicyThatForwardsNoFailureFailsTheCheck() {
        assertFound(new FailurePolicy() {
            @Override
            public boolean forwards(Failure failure, int peer) {
                return false;
            }
        });
    }

    @Test
    @DisplayName("a planted mistake is found: ranks tell a failure to the upper half of the ranks only")
    void aPolicyThatSendsToHigherRanksOnlyFailsTheCheck() {
        assertFound(new FailurePolicy() {
            @Override
            public boolean forwards(Failure failure, int peer) {
                return peer >= SIZE / 2;
            }

            @Override
            public boolean floods(Failure failure, int peer) {
                return peer >= SIZE / 2;
            }
        });
    }

    private static void assertFound(FailurePolicy planted) {
        assertThrows(
                AssertionError.class,
                () -> HandDriven.seeds(20, seed -> {
                    Random random = new Random(seed);
                    new Leaving(random, planted).check(random);
                }));
    }

    @Test
    @DisplayName("a rank that waits for a message of one that is no neighbour hears of its leave, at once or later")
    void aWaitingRankReceivesTheLeaveOfTheRankThatItWaitsFor() {
        HandDriven group = HandDriven.withMesh(SIZE, FORCED, FailurePolicy.SHIPPED);
        group.ranks.get(0).exits().follow(7);
        group.deliverAll();
        leave(group, 7).whenOver(() -> group.close(7));
        group.deliverAll();
        assertTrue(group.ranks.get(0).exits().has(7), "it followed before");
        assertEquals(0, group.ranks.get(0).exits().sentBy(7));

        group.ranks.get(12).exits().follow(7);
        group.ranks.get(18).exits().follow(7);
        group.deliverAll();
        assertTrue(
                group.ranks.get(12).exits().has(7)
                        && group.ranks.get(18).exits().has(7),
                "it has closed its end");
        assertTrue(group.wakeUps[18] > 0, "a rank that waits is woken");
        assertNull(group.ranks.get(18).failure(), "the failure is up to the call that waits");
    }

    @Test
    @DisplayName("a rank that serves the others hears of the leave of each of them")
    void aRankThatServesTheOthersWaitsForAllLeaves() {
        HandDriven group = HandDriven.withMesh(SIZE, FORCED, FailurePolicy.SHIPPED);
        boolean[] over = new boolean[1];
        group.ranks
                .get(0)
                .leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_LEFT)
                .whenOver(() -> over[0] = true);
        for (int rank = 1; rank < SIZE; rank++) {
            group.deliverAll();
            assertTrue(!over[0], "rank " + rank + " is there");
            leave(group, rank);
        }
        group.deliverAll();
        assertTrue(over[0]);
    }
}
