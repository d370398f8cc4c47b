package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.control.membership.Membership;
import ferro.control.membership.MembershipMessage.Heartbeat;
import ferro.control.membership.MembershipMessage.LossReport;
import ferro.spi.GroupSpec;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MembershipTest {
    private static final Map<String, String> TIMES =
            Map.of("ferro.heartbeat.interval", "2s", "ferro.heartbeat.suspect", "5s", "ferro.heartbeat.limit", "30s");
    /** A time shortly before the clock overflows. */
    private static final long LATE = Long.MAX_VALUE - Duration.ofSeconds(4).toNanos();

    private Watchers world = new Watchers(3, 1000, TIMES).enter();

    @Test
    @DisplayName(
            "row 6: a rank that hangs is suspected within three heartbeats, on every other rank, and nothing fails")
    void aRankThatHangsIsSuspectedWithinThreeHeartbeats() {
        world.pass(Duration.ofSeconds(10));
        world.ranks.get(2).paused = true;
        world.pass(Duration.ofSeconds(6));

        for (int rank = 0; rank < 2; rank++) {
            List<String> heard = world.ranks.get(rank).heard;
            assertEquals(1, heard.size(), heard::toString);
            assertTrue(heard.get(0).startsWith("SUSPECTED 2: nothing heard from rank 2 for 5."), heard::toString);
        }
    }

    @Test
    @DisplayName("row 6: a rank that is silent up to the limit is lost with PARTITION, once")
    void aRankThatIsSilentBeyondTheLimitIsLostWithPartition() {
        world.pass(Duration.ofSeconds(1));
        world.ranks.get(1).paused = true;
        world.pass(Duration.ofSeconds(29));
        assertEquals(List.of(), world.ranks.get(0).peerFailures);
        world.pass(Duration.ofSeconds(20));

        FerroException loss = only(world.ranks.get(0).peerFailures);
        assertEquals(Code.PARTITION, loss.code());
        assertEquals(Set.of(1), loss.where().culprits());
        assertTrue(
                loss.getMessage()
                        .matches("nothing heard from rank 1 for 30\\.. s, limit ferro.heartbeat.limit 30.0 s: .*"),
                loss.getMessage());
    }

    @Test
    @DisplayName(
            "row 5: a rank that stood still is heard of again on every rank with the length of its pause, nothing fails")
    void aPausedRankRecoversOnAllRanksWithTheLengthOfItsPause() {
        world.pass(Duration.ofSeconds(3));
        world.ranks.get(2).paused = true;
        world.pass(Duration.ofMillis(8_100));
        world.ranks.get(2).paused = false;
        world.pass(Duration.ofSeconds(60));

        List<String> others = world.ranks.get(0).heard;
        assertEquals(3, others.size(), others::toString);
        assertTrue(others.get(0).startsWith("SUSPECTED 2"), others::toString);
        assertEquals("PAUSED 2: rank 2 was paused 8.0 s", others.get(1));
        assertTrue(others.get(2).startsWith("RECOVERED 2: rank 2 is heard again after 9.1 s"), others::toString);
        assertEquals(others, world.ranks.get(1).heard);
        assertEquals(List.of("PAUSED 2: rank 2 was paused 8.0 s (this process)"), world.ranks.get(2).heard);
    }

    @Test
    @DisplayName("row 5: a rank that stood still longer than the limit blames nobody before it has read its messages")
    void aPausedRankBlamesNoRankForItsOwnPause() {
        world.pass(Duration.ofSeconds(3));
        Watchers.Rank sleeper = world.ranks.get(2);
        sleeper.paused = true;
        // on a real system the timer may run before the reading loop
        sleeper.timersFirst = true;
        world.pass(Duration.ofSeconds(40));
        sleeper.inbox.clear();
        sleeper.paused = false;
        world.pass(Duration.ofSeconds(60));

        assertEquals(List.of("PAUSED 2: rank 2 was paused 39.9 s (this process)"), sleeper.heard);
        assertEquals(List.of(), sleeper.peerFailures);
    }

    @Test
    @DisplayName("row 5: what a rank did not hear while it stood still counts as nobody's silence")
    void messagesThatAPausedRankMissedDoNotMakeOthersSilent() {
        world.pass(Duration.ofSeconds(3));
        Watchers.Rank sleeper = world.ranks.get(2);
        sleeper.paused = true;
        world.pass(Duration.ofSeconds(6));
        sleeper.inbox.clear();
        sleeper.paused = false;
        world.ranks.get(0).cutTo.add(2);
        world.pass(Duration.ofMillis(2_500));
        world.ranks.get(0).cutTo.clear();
        world.pass(Duration.ofSeconds(4));

        assertEquals(List.of("PAUSED 2: rank 2 was paused 5.9 s (this process)"), sleeper.heard);
    }

    @Test
    @DisplayName("row 5: a rank that stood still has time to read before it calls anybody silent")
    void aPausedRankReadsItsMessagesBeforeItSuspectsOthers() {
        Map<String, String> sharp = new HashMap<>(TIMES);
        sharp.put("ferro.heartbeat.suspect", "2200ms");
        world = new Watchers(2, 1000, sharp).enter();
        world.pass(Duration.ofMillis(3_900));
        Watchers.Rank sleeper = world.ranks.get(1);
        sleeper.paused = true;
        world.pass(Duration.ofSeconds(6));
        sleeper.paused = false;
        sleeper.reads = false;
        world.pass(Duration.ofMillis(600));
        sleeper.reads = true;
        world.pass(Duration.ofSeconds(4));

        assertEquals(List.of("PAUSED 1: rank 1 was paused 5.9 s (this process)"), sleeper.heard);
    }

    @Test
    @DisplayName("row 38: a clock that wraps makes nobody late")
    void aClockThatOverflowsSuspectsNoHealthyRank() {
        world = new Watchers(3, LATE, TIMES).enter();
        world.pass(Duration.ofSeconds(60));
        world.ranks.get(1).paused = true;
        world.pass(Duration.ofSeconds(7));

        assertTrue(world.now() < 0, "the clock has not wrapped: " + world.now());
        assertEquals(1, world.ranks.get(0).heard.size(), world.ranks.get(0).heard::toString);
        assertTrue(world.ranks.get(0).heard.get(0).startsWith("SUSPECTED 1"));
        assertEquals(30, world.ranks.get(0).heartbeats, 3.5);
    }

    @Test
    void pausesAreMeasuredFromAnyTimeEvenDuringThePause() {
        Watchers.Rank rank = world.ranks.get(1);
        world.pass(Duration.ofSeconds(1));
        long before = world.now();
        rank.paused = true;
        world.pass(Duration.ofSeconds(3));

        assertEquals(2.9, seconds(rank.membership.pausedSince(before)), 0.1);
        assertEquals(
                1.0,
                seconds(rank.membership.pausedSince(
                        world.now() - Duration.ofSeconds(1).toNanos())),
                0.001);
        rank.paused = false;
        world.pass(Duration.ofSeconds(1));
        assertEquals(2.9, seconds(rank.membership.pausedSince(before)), 0.1);
        assertEquals(
                0,
                rank.membership.pausedSince(world.now() - Duration.ofMillis(500).toNanos()));
        assertEquals(0, world.ranks.get(0).membership.pausedSince(before));
    }

    @Test
    void repeatedOrOldMessagesChangeNothing() {
        world = new Watchers(3, 1000, TIMES);
        world.copies = 3;
        world.enter();
        world.pass(Duration.ofSeconds(3));
        Watchers.Rank sleeper = world.ranks.get(2);
        sleeper.paused = true;
        world.pass(Duration.ofSeconds(4));
        sleeper.paused = false;
        world.pass(Duration.ofSeconds(4));
        assertEquals(List.of("PAUSED 2: rank 2 was paused 3.9 s"), world.ranks.get(0).heard);

        sleeper.paused = true;
        // an old heartbeat does not show that a rank is alive
        ByteBuffer old = new Heartbeat(1, 9, TimeUnit.SECONDS.toNanos(5)).encoded();
        for (int second = 0; second < 7; second++) {
            sleeper.control(0, old.duplicate());
            world.pass(Duration.ofSeconds(1));
        }

        assertTrue(world.ranks.get(0).heard.get(1).startsWith("SUSPECTED 2"), world.ranks.get(0).heard::toString);
    }

    @Test
    void aRankThatHasLeftIsNotSuspected() {
        world.pass(Duration.ofSeconds(3));
        Watchers.Rank leaver = world.ranks.get(2);
        leaver.membership.leave(leaver);
        world.pass(Duration.ofSeconds(60));

        assertEquals(List.of(), world.ranks.get(0).heard);
        assertEquals(0, leaver.timers.scheduled(), "a timer is left");
        assertEquals(0, leaver.lanes, "a lane is left");
    }

    @Test
    void theWatchContinuesUntilTheLastGroupHasLeft() {
        Watchers.Rank first = world.ranks.get(0);
        LossRecorder subgroup = new LossRecorder();
        first.membership.enter(subgroup, new int[] {2, 0});
        first.membership.leave(first);
        world.pass(Duration.ofSeconds(3));
        world.ranks.get(2).paused = true;
        world.pass(Duration.ofSeconds(40));

        assertEquals(List.of(), first.heard);
        assertTrue(subgroup.text.startsWith("nothing heard from rank 0 (rank 2 of \"world\") for 30."), subgroup.text);
        assertEquals(0, subgroup.lost, "in the numbers of the subgroup");
        first.membership.leave(subgroup);
        assertEquals(0, first.timers.scheduled(), "a timer is left");
    }

    @Test
    void aLaterGroupReceivesAnEarlierLoss() {
        world.pass(Duration.ofSeconds(3));
        world.ranks.get(2).paused = true;
        world.pass(Duration.ofSeconds(40));
        LossRecorder late = new LossRecorder();
        world.ranks.get(0).membership.enter(late, new int[] {0, 2});
        world.pass(Duration.ofSeconds(1));

        assertEquals(1, late.lost);
    }

    @Test
    void aGroupMadeAfterARecoveryFailsOnlyForTheNextLoss() {
        world.pass(Duration.ofSeconds(3));
        Watchers.Rank sleeper = world.ranks.get(2);
        sleeper.paused = true;
        world.pass(Duration.ofSeconds(40));
        sleeper.paused = false;
        world.pass(Duration.ofSeconds(10));
        LossRecorder late = new LossRecorder();
        world.ranks.get(0).membership.enter(late, new int[] {0, 2});
        world.pass(Duration.ofSeconds(1));
        assertEquals("", late.text);

        sleeper.paused = true;
        world.pass(Duration.ofSeconds(40));

        assertEquals(1, late.lost);
    }

    @Test
    void aWorldOfOneRankOrWithoutHeartbeatsHasNoTimers() {
        Watchers alone = new Watchers(1, 1000, TIMES).enter();
        Watchers off = new Watchers(3, 1000, Map.of("ferro.heartbeat.interval", "0s")).enter();

        assertEquals(0, alone.ranks.get(0).timers.scheduled());
        assertEquals(0, alone.ranks.get(0).lanes);
        assertEquals(0, off.ranks.get(0).timers.scheduled());
        assertEquals(0, off.ranks.get(0).lanes);
    }

    @Test
    @DisplayName("row 1: a subgroup hears of an exit also where none of its ranks looks at that process")
    void aSubgroupReceivesAnExitThatOtherRanksDetected() {
        world = new Watchers(30, 1000, TIMES, new Processes("process of 20")).enter();
        LossRecorder subgroup = new LossRecorder();
        Watchers.Rank far = world.ranks.get(2);
        far.membership.enter(subgroup, new int[] {20, 2});
        far.membership.leave(far);
        world.ranks.get(20).paused = true;
        world.pass(Duration.ofMillis(80));

        assertEquals(0, subgroup.lost);
        assertTrue(
                subgroup.text.startsWith("rank 0 (rank 20 of \"world\", pid 20 on host h) is gone: "), subgroup.text);
        assertEquals(1, world.ranks.get(2).lanes);
    }

    @Test
    void heartbeatSettingsThatSuspectHealthyRanksAreRefused() {
        Map<String, String> settings = new HashMap<>(TIMES);
        settings.put("ferro.heartbeat.interval", "10s");

        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> new Watchers(2, 1000, settings));

        assertEquals(
                "ferro.heartbeat.interval (10.0 s) must be shorter than ferro.heartbeat.suspect (5.0 s), which must be at most"
                        + " ferro.heartbeat.limit (30.0 s): set all three",
                refusal.getMessage());
    }

    @Test
    @DisplayName(
            "row 1, row 19: the exit of a process on this host is seen by a look and told as PEER_LOST within 100 ms")
    void theExitOfALocalProcessIsPeerLostWithin100Millis() {
        Processes host = new Processes("");
        world = new Watchers(3, 1000, TIMES, host).enter();
        world.pass(Duration.ofSeconds(3));
        world.ranks.get(2).paused = true;
        host.exited = "process of 2";
        world.pass(Duration.ofMillis(50));

        FerroException loss = only(world.ranks.get(0).peerFailures);
        assertEquals(Code.PEER_LOST, loss.code());
        assertEquals(Set.of(2), loss.where().culprits());
        assertEquals(
                "rank 2 (pid 2 on host h) is gone: its process has exited without closing its groups, seen in the process"
                        + " table; its own output may say why (seen by rank 0 of \"world\")",
                loss.getMessage());
        assertEquals(List.of("process of 2"), host.closed.subList(0, 1));
    }

    @Test
    void ranksAreGroupedByTheProcessThatTheyReport() {
        Processes host = new Processes("");
        world = new Watchers(5, 1000, TIMES, rank -> host.apply(rank % 2)).enter();
        world.pass(Duration.ofSeconds(1));
        Membership membership = world.ranks.get(3).membership;

        assertEquals("{0, 2, 4}", membership.sharing(2).toString());
        assertEquals(" (pid 0 on host h)", membership.placed(2));
        assertEquals(
                "{1}",
                Membership.unwatched(GroupSpec.of("world", 0, 2, Duration.ofSeconds(1)))
                        .sharing(1)
                        .toString());
        assertEquals(
                "",
                Membership.unwatched(GroupSpec.of("world", 0, 2, Duration.ofSeconds(1)))
                        .placed(1));
    }

    @Test
    void aProcessThatHasLeftMayExitBeforeItsGoodbyeIsRead() {
        Processes host = new Processes("");
        world = new Watchers(2, 1000, TIMES, host).enter();
        world.pass(Duration.ofSeconds(3));
        Watchers.Rank leaver = world.ranks.get(1);
        host.exited = "process of 1";
        for (int look = 0; look < 20 && world.ranks.get(0).timers.scheduled() < 2; look++) {
            world.pass(Duration.ofMillis(1));
        }
        leaver.membership.leave(leaver);
        leaver.paused = true;
        world.pass(Duration.ofSeconds(1));

        assertEquals(List.of(), world.ranks.get(0).heard);
        assertEquals(1, world.ranks.get(0).timers.scheduled(), "only the heartbeat's");
    }

    /** A JVM may join and leave many jobs, whose ranks are in other processes: each leaves what it has opened. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5, 7})
    void theLastGroupOfARankLeavesNoTimerAndNoWatchedProcess(int worldSize) {
        Processes host = new Processes("");
        world = new Watchers(worldSize, 1000, TIMES, host).enter();
        world.pass(Duration.ofSeconds(3));
        Watchers.Rank leaver = world.ranks.get(1);
        LossRecorder part = new LossRecorder();
        leaver.membership.enter(part, new int[] {1, 0});
        List<String> watched = List.copyOf(host.open(1));

        leaver.membership.leave(leaver);

        assertEquals(Math.min(3, worldSize - 1), watched.size(), "processes that rank 1 watches: " + watched);
        assertEquals(watched, host.open(1), "another group goes on");
        assertEquals(1, leaver.timers.scheduled(), "timers while another group goes on");
        leaver.membership.leave(part);

        assertEquals(List.of(), host.open(1), "processes that rank 1 still watches");
        assertEquals(0, leaver.timers.scheduled(), "timers of rank 1");
        assertEquals(0, leaver.lanes, "control lanes of rank 1");
    }

    @Test
    void processesAreWatchedWithoutHeartbeats() {
        Processes host = new Processes("");
        world = new Watchers(2, 1000, Map.of("ferro.heartbeat.interval", "0s"), host).enter();
        world.pass(Duration.ofSeconds(3));
        host.exited = "process of 1";
        world.ranks.get(1).paused = true;
        world.pass(Duration.ofMillis(50));

        assertEquals(Code.PEER_LOST, only(world.ranks.get(0).peerFailures).code());
        assertEquals(0, world.ranks.get(0).timers.scheduled(), "nothing is left to look at");
    }

    @Test
    void anInvalidMembershipMessageIsAProtocolFailureOfItsSender() {
        world.ranks.get(2).control(0, ByteBuffer.wrap(new byte[] {9, 9}));
        world.pass(Duration.ofMillis(10));

        assertEquals(Code.PROTOCOL, only(world.ranks.get(0).peerFailures).code());
    }

    @Test
    void aRankThatRanOutOfMemoryResumesItsHeartbeats() {
        world.pass(Duration.ofSeconds(3));
        world.ranks.get(1).exhausted = true;
        world.pass(Duration.ofSeconds(4));
        world.ranks.get(1).exhausted = false;
        world.pass(Duration.ofSeconds(60));

        assertEquals(List.of(), world.ranks.get(0).peerFailures);
    }

    @Test
    void anInvalidReportOfALossBlamesItsSender() {
        List<LossReport> nonsense = List.of(
                new LossReport(-1, Code.PEER_LOST, "gone"),
                new LossReport(3, Code.PARTITION, "silent"),
                new LossReport(0, Code.TIMED_OUT, "late"));
        for (LossReport told : nonsense) {
            world = new Watchers(3, 1000, TIMES).enter();
            world.pass(Duration.ofSeconds(3));
            world.ranks.get(2).control(1, told.encoded());
            world.pass(Duration.ofSeconds(1));
            assertEquals(
                    Set.of(2), only(world.ranks.get(1).peerFailures).where().culprits(), told::toString);

            // the ranks that were not blamed are still watched
            world.ranks.get(0).paused = true;
            world.pass(Duration.ofSeconds(10));
            assertTrue(world.ranks.get(1).heard.get(1).startsWith("SUSPECTED 0"), told::toString);
        }
    }

    private static double seconds(long nanos) {
        return nanos / 1e9;
    }

    private static <T> T only(List<T> list) {
        assertEquals(1, list.size(), list::toString);
        return list.get(0);
    }
}
