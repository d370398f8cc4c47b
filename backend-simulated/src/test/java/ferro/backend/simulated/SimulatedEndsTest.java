package ferro.backend.simulated;

import static ferro.backend.simulated.Ends.call;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.HostTensor;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** How ranks of a simulated group give up, close and die, and what the others receive. */
class SimulatedEndsTest {
    private final Ends ends = new Ends(3);

    @Test
    void anAbandonReleasesThePostedMemoryAtOnce() {
        int[] got = {-1};
        ends.link(1, 0).receive(call(1), HostTensor.of(got), 0, 1);
        ends.link(0, 1).send(call(1), HostTensor.of(new int[] {5}), 0, 1);
        ends.end(0).abandon();
        ends.end(1).poll();
        assertArrayEquals(new int[] {-1}, got);
        ends.settle();
        assertArrayEquals(new int[] {-1}, got);
        assertEquals(List.of("broken 0 PEER_LOST"), ends.heard(1).lines);
        assertEquals(List.of(), ends.heard(0).lines);
    }

    @Test
    void aControlMessageIsDeliveredBeforeTheEndOfItsSender() {
        ends.link(1, 0).receive(call(1), HostTensor.of(new int[1]), 0, 1);
        ends.link(0, 1);
        ends.end(0).control(1, ByteBuffer.wrap(new byte[] {'a'}));
        ends.end(0).abandon();
        ends.settle();
        assertEquals(List.of("control 0 a", "broken 0 PEER_LOST"), ends.heard(1).lines);
    }

    @Test
    void controlMessagesContinueAfterAbandonAndStopAfterClose() {
        ends.end(0).abandon();
        ends.end(0).control(1, ByteBuffer.wrap(new byte[] {'a'}));
        ends.end(1).control(0, ByteBuffer.wrap(new byte[] {'b'}));
        ends.settle();
        ends.end(0).close();
        ends.end(0).control(1, ByteBuffer.wrap(new byte[] {'c'}));
        ends.end(1).control(0, ByteBuffer.wrap(new byte[] {'d'}));
        ends.settle();
        assertEquals(List.of("control 0 a", "closed 0 PEER_LOST"), ends.heard(1).lines);
        assertEquals(List.of("control 1 b"), ends.heard(0).lines);
    }

    @Test
    void aClosedPeerIsNotReportedBeforeItsDataIsConsumed() {
        int[] got = new int[2];
        ends.messages(0, 1).send(call(1), HostTensor.of(new int[] {5}), 0, 1);
        ends.end(0).close();
        ends.messages(1, 0).receive(call(1), HostTensor.of(got), 0, 1);
        ends.settle();
        assertEquals(List.of(), ends.heard(1).lines);
        ends.messages(1, 0).receive(call(1), HostTensor.of(got), 1, 1);
        ends.settle();
        assertArrayEquals(new int[] {5, 0}, got);
        assertEquals(List.of("broken 0 PEER_LOST"), ends.heard(1).lines);
        assertEquals(
                "rank 1 of \"test\" lost rank 0, which closed its end with 0 sends and 1 receives unfinished after 4"
                        + " bytes on the link; the group has ended, restart all its ranks",
                ends.heard(1).causes.get(0).getMessage());
    }

    @Test
    void aSmallSendToAClosedPeerBreaksTheLink() {
        ends.end(0).close();
        ends.messages(1, 0);
        ends.settle();
        ends.messages(1, 0).send(call(1), HostTensor.of(new int[] {5}), 0, 1);
        ends.settle();
        assertEquals(List.of("broken 0 PEER_LOST"), ends.heard(1).lines);
    }

    @Test
    void aPeerThatClosesWithoutItsLinkIsReported() {
        ends.link(1, 0).send(call(1), HostTensor.of(new int[] {5}), 0, 1);
        ends.settle();
        ends.end(0).close();
        ends.settle();
        assertEquals(List.of("broken 0 PEER_LOST"), ends.heard(1).lines);
    }

    @Test
    void idleLinksOfAClosedPeerAreNotBroken() {
        ends.link(1, 0);
        ends.end(0).close();
        ends.settle();
        assertEquals(List.of(), ends.heard(1).lines);
    }

    @Test
    void aDeadRankIsLostOnAllRanks() {
        ends.network().kill(2);
        ends.end(2).control(0, ByteBuffer.wrap(new byte[] {'a'}));
        ends.settle();
        assertEquals(List.of("lost 2 PEER_LOST"), ends.heard(0).lines);
        assertEquals(List.of("lost 2 PEER_LOST"), ends.heard(1).lines);
        assertEquals(List.of(), ends.heard(2).lines);
        assertEquals(Set.of(2), ends.heard(0).causes.get(0).where().culprits());
    }

    @Test
    void aDeadRankIsLostInLaterGroups() {
        ends.network().kill(2);
        Ends.Heard heard = new Ends.Heard();
        ends.end(1).subgroup(new int[] {2, 1}, 99).events(heard);
        ends.settle();
        assertEquals(List.of("lost 0 PEER_LOST"), heard.lines);
    }

    @Test
    void aSubgroupHasItsOwnLinksAndRankNumbers() {
        Transport one = ends.end(2).subgroup(new int[] {2, 0}, 7);
        Transport two = ends.end(0).subgroup(new int[] {2, 0}, 7);
        assertEquals(0, one.rank());
        assertEquals(1, two.rank());
        assertEquals(2, two.worldSize());
        int[] got = new int[1];
        two.link(0, Lane.COLLECTIVE).receive(call(1), HostTensor.of(got), 0, 1);
        one.link(1, Lane.COLLECTIVE).send(call(1), HostTensor.of(new int[] {8}), 0, 1);
        assertFalse(ends.end(0).poll());
        assertTrue(two.poll());
        assertArrayEquals(new int[] {8}, got);
    }

    @Test
    void anAbandonedSubgroupLeavesItsParentUsable() {
        Transport one = ends.end(0).subgroup(new int[] {0, 1}, 7);
        one.link(1, Lane.COLLECTIVE);
        one.abandon();
        assertParentWorks();
        assertEquals(List.of(), ends.heard(1).lines);
    }

    private void assertParentWorks() {
        int[] got = new int[1];
        ends.link(1, 0).receive(call(1), HostTensor.of(got), 0, 1);
        ends.link(0, 1).send(call(1), HostTensor.of(new int[] {8}), 0, 1);
        ends.settle();
        assertArrayEquals(new int[] {8}, got);
    }

    @Test
    void aControlMessageWaitsUntilItsSubgroupIsMade() {
        ends.end(0).subgroup(new int[] {0, 1}, 7).control(1, ByteBuffer.wrap(new byte[] {'a'}));
        ends.settle();
        Ends.Heard heard = new Ends.Heard();
        ends.end(1).subgroup(new int[] {0, 1}, 7).events(heard);
        ends.settle();
        assertEquals(List.of("control 0 a"), heard.lines);
    }

    @Test
    void onlyMembersCanMakeASubgroup() {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> ends.end(2).subgroup(new int[] {0, 1}, 7));
        assertTrue(refused.getMessage().contains("rank 2 of \"test\""), refused.getMessage());
    }
}
