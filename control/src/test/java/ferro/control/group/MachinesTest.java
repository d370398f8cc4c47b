package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.GroupEvent;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.Machines;
import ferro.control.failure.RankProcesses;
import ferro.control.failure.StatusAnswer;
import ferro.control.membership.Membership;
import ferro.control.wire.RankSetFormat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The texts about another machine of which all ranks, or only some, are gone. */
class MachinesTest {
    private static final Duration GRACE = Duration.ofMillis(10);
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final String A = "node 0 (host a, 10.99.0.1)";
    private static final String B = "node 1 (host b, 10.99.0.2)";
    private static final String SILENCE =
            B + ": none of its ranks 2, 3 answers: the network is cut or the machine is down";
    private static final String GONE = B + ": all its ranks 2, 3 are gone: their control connections ended without a"
            + " goodbye, as happens when their launcher or machine ends; their own output may say why";

    /** Two ranks on each machine, each in its own process. */
    private static final RankProcesses PLACED = new RankProcesses() {
        @Override
        public String group() {
            return "world";
        }

        @Override
        public String machine(int rank) {
            return rank < 2 ? A : B;
        }
    };

    private final HandDriven group = new HandDriven(4, FailurePolicy.SHIPPED, PLACED);

    private static FerroException cause(int rank, Code code) {
        return new FerroException(code, Where.of("dp", 0).blaming(rank).during("", 1), "rank " + rank + " is gone");
    }

    @Test
    void allRanksOfAnEndedMachineAreBlamedByItsNameOnEachSurvivor() {
        group.lost(0, 2, 3);
        group.lost(1, 3);
        group.pass(GRACE);
        group.lost(1, 2);
        group.pass(GRACE);

        for (int told = 0; told < 2; told++) {
            assertEquals("PEER_LOST of 2,3: " + GONE, group.story(0));
            assertEquals("PEER_LOST of 2,3: " + GONE, group.story(1));
            group.deliverAll();
        }
    }

    @Test
    void theTextAboutAWholeMachineReplacesTheTextAboutOneRank() {
        group.stop(2);
        group.stop(3);
        group.lost(0, 2);
        group.lost(1, 2, 3);
        group.pass(GRACE.multipliedBy(2));
        assertEquals("PEER_LOST of 2: rank 2 is gone", group.story(0));
        group.deliverAll();

        for (int survivor = 0; survivor < 2; survivor++) {
            assertEquals("PEER_LOST of 2,3: " + GONE, group.story(survivor));
        }
    }

    @Test
    void onlyTheLostRankOfALivingMachineIsBlamed() {
        group.lost(0, 2);
        group.pass(GRACE.multipliedBy(2));
        assertEquals("PEER_LOST of 2: rank 2 is gone", group.story(0));

        HandDriven own = new HandDriven(4, FailurePolicy.SHIPPED, PLACED);
        own.lost(3, 2);
        own.pass(GRACE);
        assertEquals("PEER_LOST of 2: rank 2 is gone", own.story(3), "its own machine is there");
    }

    @Test
    void aRankThatSentAFailureBeforeItEndedIsBlamedForThatOnly() {
        group.ranks.get(3).failUnlessFailed(new Failure(Code.ABORTED, 3, -1, Set.of(3), "no more data", null));
        group.deliverAll();
        group.lost(0, 2, 3);
        group.pass(GRACE.multipliedBy(2));

        assertEquals("ABORTED of 3: no more data", group.story(0));
    }

    @Test
    void aLinkThatEndsIsTheEndOfAMachineIfNoRankOfItAnswers() {
        group.ranks.get(0).broken(2, cause(2, Code.PEER_LOST));
        group.drop(0, 2);
        group.drop(0, 3);
        group.deliverAll();
        group.pass(SECOND.multipliedBy(3));

        assertEquals("PEER_LOST of 2,3: " + SILENCE + "; rank 2 is gone", group.story(0));
    }

    @Test
    void aTimeoutNamesASilentMachineOnceOrEachSilentRankWithItsMachine() {
        Machines machines = new Machines(0, new int[] {0, 1, 2, 3}, PLACED);
        StatusAnswer there = new StatusAnswer(1, 5, "barrier", 5, 5, 0, "barrier", "in barrier", Set.of(2), 0, 0, "");

        BitSet others = BitSet.valueOf(new long[] {0b1110});
        Diagnosis.Blame cut = new Diagnosis(machines, new StatusAnswer[] {null, there, null, null}, new BitSet(), 5)
                .ofCollective(others);
        assertEquals(SILENCE + "; rank 1 is in this call", cut.text());
        assertEquals("2,3", RankSetFormat.list(cut.culprits()));

        Diagnosis.Blame one = new Diagnosis(machines, new StatusAnswer[] {null, there, null, there}, new BitSet(), 5)
                .ofCollective(others);
        assertEquals(
                "rank 2 on " + B
                        + " does not answer: its process hangs, is stopped or cannot be reached; ranks 1, 3 are in"
                        + " this call",
                one.text());

        Diagnosis.Blame near = new Diagnosis(machines, new StatusAnswer[] {null, null, there, there}, new BitSet(), 5)
                .ofCollective(others);
        assertTrue(near.text().startsWith("rank 1 does not answer: its process"), near.text());
    }

    @Test
    void aSilentMachineIsNamedWithTheRankNumbersOfEachGroup() {
        Watchers world = watchers(A, A, B, B);
        Together subgroup = new Together();
        world.ranks.get(0).membership.enter(subgroup, new int[] {0, 3});
        Together all = new Together();
        world.ranks.get(0).membership.enter(all, new int[] {0, 1, 2, 3});
        world.pass(SECOND.multipliedBy(10));
        for (int rank : new int[] {2, 3}) {
            world.ranks.get(rank).cutTo.addAll(List.of(0, 1));
            world.ranks.get(rank - 2).cutTo.addAll(List.of(2, 3));
        }
        world.pass(SECOND.multipliedBy(40));

        String passed =
                ": nothing heard for 30\\.\\d s, limit ferro\\.heartbeat\\.limit 30\\.0 s \\(seen by rank \\d of \"world\"\\)";
        assertEquals(List.of("2 of 2,3", "3 of 2,3"), all.ranks);
        assertTrue(all.text.matches(java.util.regex.Pattern.quote(SILENCE) + passed), all.text);
        assertEquals(List.of("1 of 1"), subgroup.ranks);
        assertTrue(
                subgroup.text.startsWith(B + ": its rank 1 (rank 3 of \"world\") does not answer: the network is cut"),
                subgroup.text);
        assertEquals(List.of("lost 2", "lost 3"), lostBy(world, 1));
        assertEquals(List.of("lost 0", "lost 1"), lostBy(world, 2), "the other side of the cut");
    }

    /** Each rank watches the next 32. On the other machine, rank 0 watches ranks 4 to 32, and rank 3 ranks 4 to 35. */
    @Test
    void aSilentMachineIsNamedIfAllItsWatchedRanksAreSilent() {
        String[] machines = new String[40];
        Arrays.fill(machines, 0, 4, A);
        Arrays.fill(machines, 4, 40, B);
        Watchers world = watchers(machines);
        world.pass(SECOND.multipliedBy(5));
        for (int rank = 4; rank < 40; rank++) {
            world.ranks.get(rank).paused = true;
        }
        world.pass(SECOND.multipliedBy(34));

        for (int rank : new int[] {0, 3}) {
            String text = world.ranks.get(rank).peerFailures.get(0).getMessage();
            assertTrue(text.startsWith(B + ": none of its ranks "), text);
            assertTrue(text.contains(" more there): nothing heard for 30."), text);
            assertEquals(32, Set.copyOf(lostBy(world, rank)).size(), "nobody is left who watches 36 to 39");
        }
    }

    @Test
    void aMachineIsNotNamedIfOneOfItsRanksIsNotSilent() {
        Watchers world = watchers(A, A, B, B);
        world.ranks.get(2).paused = true;
        world.pass(SECOND.multipliedBy(40));

        assertEquals(List.of("lost 2"), lostBy(world, 0));
        String text = world.ranks.get(0).peerFailures.get(0).getMessage();
        assertTrue(text.startsWith("nothing heard from rank 2 for 30."), text);
    }

    @Test
    void aRankOfASubgroupIsNamedByItsNumberInBothGroups() {
        Machines machines = new Machines(0, new int[] {1, 3, 2}, PLACED);
        StatusAnswer there = new StatusAnswer(1, 4, "barrier", 0, 0, 0, "", "", Set.of(), 0, 0, "");
        BitSet others = BitSet.valueOf(new long[] {0b110});

        assertEquals(
                "rank 1 (rank 3 of \"world\") on " + B + " does not answer: its process hangs, is stopped or cannot be"
                        + " reached; rank 2 has not made this call, its last call is seq 4 (barrier), and it is in no call"
                        + " of ferro",
                new Diagnosis(machines, new StatusAnswer[] {null, null, there}, new BitSet(), 5)
                        .ofCollective(others)
                        .text());
        assertEquals("ranks 1, 2 (ranks 3, 2 of \"world\")", machines.named(others));
        assertEquals("rank 2", machines.named(2), "the number is the same in both groups");
        assertEquals("rank 3", new Machines(0, new int[] {0, 1, 2, 3}, PLACED).named(3), "the joined group itself");
        assertEquals(
                "rank 1 (rank 3 of \"world\"): rank 1 is gone",
                machines.named(1, cause(1, Code.PEER_LOST)).getMessage());
    }

    @Test
    void aLostRankOfASubgroupIsNamedWithBothNumbersAndItsProcess() {
        Watchers world = new Watchers(4, 1000, Map.of(), new Processes(""));
        world.enter();
        LossRecorder subgroup = new LossRecorder();
        world.ranks.get(0).membership.enter(subgroup, new int[] {0, 3});
        world.pass(SECOND.multipliedBy(10));
        world.ranks.get(3).paused = true;
        world.pass(SECOND.multipliedBy(40));

        assertTrue(
                subgroup.text.startsWith("nothing heard from rank 1 (rank 3 of \"world\", pid 3 on host h) for 30."),
                subgroup.text);
    }

    private static Watchers watchers(String... machines) {
        Watchers world = new Watchers(machines.length, 1000, Map.of());
        world.machines = machines;
        return world.enter();
    }

    private static List<String> lostBy(Watchers world, int rank) {
        return world.ranks.get(rank).heard.stream()
                .filter(heard -> heard.startsWith("lost"))
                .toList();
    }

    /** A group that records the reports about whole machines. */
    private static final class Together implements Membership.RankListener {
        final List<String> ranks = new ArrayList<>();
        String text = "";

        @Override
        public void silent(int rank, BitSet together, FerroException cause) {
            if (cause.getMessage().startsWith("nothing heard")) {
                gone(rank, cause);
                return;
            }
            ranks.add(rank + " of " + RankSetFormat.list(together));
            text = cause.getMessage();
            assertEquals(
                    RankSetFormat.list(together),
                    RankSetFormat.list(cause.where().culprits()));
            assertEquals(Code.PARTITION, cause.code());
        }

        @Override
        public void gone(int rank, FerroException cause) {
            ranks.add("alone " + rank);
        }

        @Override
        public void event(GroupEvent.Kind kind, int rank, String what) {
            // suspicions arrive first and are not checked
        }

        @Override
        public void heartbeat() {
            // this group has made no call
        }
    }
}
