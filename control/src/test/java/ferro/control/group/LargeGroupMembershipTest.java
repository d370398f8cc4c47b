package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.ProcessTable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The watch over ranks in groups of more than 33 ranks, and the number of its messages. */
class LargeGroupMembershipTest {
    private static final Map<String, String> TIMES =
            Map.of("ferro.heartbeat.interval", "2s", "ferro.heartbeat.suspect", "5s", "ferro.heartbeat.limit", "30s");

    /** A tenth of {@link #TIMES}, for the tests with the most steps. */
    private static final Map<String, String> TENTHS = Map.of(
            "ferro.heartbeat.interval", "200ms", "ferro.heartbeat.suspect", "500ms", "ferro.heartbeat.limit", "3s");

    @Test
    @DisplayName("a rank of 128 that stood still sends its pause to the 32 ranks that watch it")
    void aPauseIsSentToTheRanksThatWatchTheRank() {
        Watchers world = new Watchers(128, 1000, TIMES).enter();
        world.pass(Duration.ofMillis(2_500));
        Watchers.Rank sleeper = world.ranks.get(70);
        sleeper.paused = true;
        world.pass(Duration.ofSeconds(1));
        int before = sleeper.sent;
        sleeper.paused = false;
        world.pass(Duration.ofMillis(200));

        assertEquals(32, sleeper.sent - before, "beats");
        for (int rank : new int[] {38, 69}) {
            List<String> heard = world.ranks.get(rank).heard;
            assertTrue(heard.size() == 1 && heard.get(0).startsWith("PAUSED 70: rank 70 was paused "), heard::toString);
        }
        assertEquals(List.of(), world.ranks.get(37).heard);
    }

    @Test
    @DisplayName("128 ranks that stood still for 300 ms send 32 heartbeats each, to the ranks that watch them")
    void ranksThatWerePausedTogetherSendTheirPausesToTheirWatchers() {
        Watchers world = new Watchers(128, 1000, TIMES).enter();
        world.pass(Duration.ofMillis(2_500));
        int before = sent(world);
        world.ranks.forEach(rank -> rank.paused = true);
        world.pass(Duration.ofMillis(400));
        world.ranks.forEach(rank -> rank.paused = false);
        world.pass(Duration.ofMillis(200));

        assertEquals(128 * 32, sent(world) - before, "heartbeats");
    }

    @Test
    @DisplayName("a pause in which a heartbeat was due makes one heartbeat to each of the 32 ranks, for one interval")
    void aHeartbeatThatReportsAPauseReplacesTheDueHeartbeat() {
        Watchers world = new Watchers(128, 1000, TIMES).enter();
        world.pass(Duration.ofMillis(1_800));
        int before = sent(world);
        world.ranks.forEach(rank -> rank.paused = true);
        world.pass(Duration.ofMillis(400));
        world.ranks.forEach(rank -> rank.paused = false);
        world.pass(Duration.ofMillis(1_900));
        assertEquals(128 * 32, sent(world) - before, "heartbeats in less than an interval");
        world.pass(Duration.ofMillis(200));
        assertEquals(2 * 128 * 32, sent(world) - before, "heartbeats after an interval");
    }

    private static int sent(Watchers world) {
        return world.ranks.stream().mapToInt(rank -> rank.sent).sum();
    }

    private static int losses(Watchers world) {
        return world.ranks.stream().mapToInt(rank -> rank.losses).sum();
    }

    @Test
    @DisplayName("if the network is cut in two halves, each rank hears of all ranks of the other half that are watched")
    void eachRankReceivesTheLossOfAllRanksBeyondANetworkCut() {
        Watchers world = new Watchers(128, 1000, TENTHS).enter();
        world.pass(Duration.ofMillis(300));
        cut(world, true);
        world.pass(Duration.ofSeconds(4));
        for (int rank = 0; rank < 64; rank++) {
            List<String> heard = world.ranks.get(rank).heard;
            // only rank 63 watches rank 95 on the other side of the cut
            for (int silent = 64; silent <= 95; silent++) {
                assertTrue(heard.contains("lost " + silent), "rank " + rank + " of " + silent + ": " + heard);
            }
        }
        cut(world, false);
        world.pass(Duration.ofSeconds(1));
        LossRecorder late = new LossRecorder();
        world.ranks.get(1).membership.enter(late, new int[] {1, 95});
        world.pass(Duration.ofMillis(100));
        assertEquals(-1, late.lost, late.text);
    }

    private static void cut(Watchers world, boolean isCut) {
        for (int rank = 0; rank < 128; rank++) {
            for (int peer = 0; peer < 128; peer++) {
                if (rank < 64 != peer < 64) {
                    if (isCut) {
                        world.ranks.get(rank).cutTo.add(peer);
                    } else {
                        world.ranks.get(rank).cutTo.remove(peer);
                    }
                }
            }
        }
    }

    @Test
    @DisplayName("the exit of a process is sent to all by one rank of each other process that looks at it")
    void theExitOfAProcessIsReportedByOneRankOfEachProcess() {
        Processes host = new Processes("");
        // rank 70 is alone in its process, and the others share two processes
        IntFunction<ProcessTable> processes = rank -> host.apply(Integer.signum(rank - 70));
        Watchers world = new Watchers(128, 1000, TIMES, processes).enter();
        world.pass(Duration.ofSeconds(3));
        world.ranks.get(70).paused = true;
        host.exited = "process of 0";
        world.pass(Duration.ofMillis(100));

        assertTrue(losses(world) <= 2 * 128, losses(world) + " messages");
        for (Watchers.Rank rank : world.ranks) {
            assertTrue(rank.paused || rank.heard.contains("lost 70"), rank.heard::toString);
        }
    }

    @Test
    @DisplayName("the silence of one of 128 ranks is sent to each other rank by at most six, and by one that lives")
    void aSilenceIsReportedByFewRanks() {
        Watchers world = new Watchers(128, 1000, TENTHS).enter();
        world.pass(Duration.ofMillis(300));
        // pauses the silent rank 70 and some ranks that watch it
        for (int rank : new int[] {70, 69, 68, 67, 66, 65, 64, 63, 52}) {
            world.ranks.get(rank).paused = true;
        }
        world.pass(Duration.ofSeconds(4));

        assertTrue(losses(world) <= 9 * 6 * 128, losses(world) + " messages");
        for (int rank = 0; rank < 128; rank++) {
            Watchers.Rank one = world.ranks.get(rank);
            if (!one.paused) {
                assertTrue(one.heard.contains("lost 70"), "rank " + rank + ": " + one.heard);
            }
        }
    }

    @Test
    @DisplayName("a rank is watched, and none is suspected, after all ranks that watched it have left or died in turn")
    void aRankIsWatchedByOthersAfterItsWatchersAreGone() {
        Watchers world = new Watchers(128, 1000, TIMES).enter();
        world.pass(Duration.ofSeconds(3));
        // ends all ranks that watch rank 64, host by host
        for (int host = 32; host < 64; host += 8) {
            for (int rank = host; rank < host + 8; rank++) {
                end(world, rank, rank % 2 == 0);
            }
            world.pass(Duration.ofSeconds(7));
        }
        for (int rank = 0; rank < 128; rank++) {
            if (rank < 32 || rank >= 64) {
                assertEquals(List.of(), world.ranks.get(rank).heard, "rank " + rank);
            }
        }
        world.ranks.get(64).paused = true;
        world.pass(Duration.ofSeconds(40));
        for (int rank : new int[] {0, 31, 65, 96, 127}) {
            assertTrue(world.ranks.get(rank).heard.contains("lost 64"), "rank " + rank);
        }
    }

    /** Lets a rank leave, or lets all others see that its connection has ended. */
    private static void end(Watchers world, int rank, boolean dies) {
        if (!dies) {
            world.ranks.get(rank).membership.leave(world.ranks.get(rank));
            return;
        }
        world.ranks.get(rank).paused = true;
        FerroException cause = new FerroException(Code.PEER_LOST, Where.of("world", 0), "gone");
        for (Watchers.Rank other : world.ranks) {
            if (other.rank != rank && !other.paused) {
                other.connectionLost(rank, cause);
            }
        }
    }

    @Test
    void eachRankOfALargeGroupWatchesTheNext32() {
        Watchers world = new Watchers(40, 1000, TIMES).enter();
        world.pass(Duration.ofSeconds(3));
        assertEquals(32 + 32, world.ranks.get(39).sent, "who is there, and one heartbeat, to 32 ranks");
        world.ranks.get(39).paused = true;
        world.pass(Duration.ofSeconds(6));
        world.ranks.get(39).paused = false;
        world.pass(Duration.ofSeconds(3));

        assertTrue(world.ranks.get(38).heard.get(0).startsWith("SUSPECTED 39"));
        assertTrue(world.ranks.get(7).heard.get(0).startsWith("SUSPECTED 39"));
        assertEquals(List.of(), world.ranks.get(6).heard, "it does not watch rank 39");
    }

    @Test
    void aSubgroupReceivesTheLossOfARankThatItDoesNotWatch() {
        Watchers world = new Watchers(40, 1000, TIMES).enter();
        LossRecorder subgroup = new LossRecorder();
        world.ranks.get(2).membership.enter(subgroup, new int[] {39, 2});
        world.pass(Duration.ofSeconds(3));
        world.ranks.get(39).paused = true;
        world.pass(Duration.ofSeconds(33));

        assertEquals(0, subgroup.lost);
        assertTrue(subgroup.text.startsWith("nothing heard from rank 0 (rank 39 of \"world\") for 30."), subgroup.text);
    }

    @Test
    void aGroupMayBeMadeOfARankThatIsNoLongerSilent() {
        Watchers world = new Watchers(40, 1000, TIMES).enter();
        world.pass(Duration.ofSeconds(3));
        world.ranks.get(39).paused = true;
        world.pass(Duration.ofSeconds(33));
        assertTrue(!world.ranks.get(2).peerFailures.isEmpty(), "told by those that watch it");
        world.ranks.get(39).paused = false;
        world.pass(Duration.ofSeconds(3));
        LossRecorder late = new LossRecorder();
        world.ranks.get(2).membership.enter(late, new int[] {39, 2});
        world.pass(Duration.ofSeconds(1));

        assertEquals(-1, late.lost, late.text);
    }
}
