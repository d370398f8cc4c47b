package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Medium;
import ferro.collectives.shared.NodeTopology.RankReport;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodeTopologyTest {
    private static final Medium TCP = new Medium("TCP", List.of("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"));

    @Test
    void twoHostsAreReportedWithoutAReason() {
        NodeTopology two = new NodeTopology(List.of(on("a", 0, 1), on("a", 0, 1), on("b", 2, 3), on("b", 2, 3)));

        assertEquals(
                List.of("data: ranks 0-1 (host a) and 2-3 (host b) over shared memory, between hosts over TCP"),
                two.lines(TCP));
        assertEquals("ranks 0-2, 0-3, 1-2, 1-3 do not share memory: hosts are a and b", two.whyNot());
        assertTrue(two.areNear(2, 3));
        assertFalse(two.areNear(1, 2));
        assertFalse(two.isComplete());
    }

    @Test
    void aRankWithoutSharedMemoryIsNamedWithItsReason() {
        NodeTopology one = new NodeTopology(
                List.of(on("a", 0, 1), on("a", 0, 1), new RankReport("a", "a", "no room", bits(2), "")));

        assertEquals(
                List.of(
                        "data: ranks 0-1 (host a) over shared memory, rank 2 (host a), all else over TCP",
                        "ranks 0-2, 1-2 do not share memory: rank 2 offers no memory: no room"),
                one.lines(TCP));
    }

    @Test
    void aRankThatCouldNotMapAnotherIsNamedWithItsReason() {
        NodeTopology one =
                new NodeTopology(List.of(on("a", 0, 1), new RankReport("a", "a", "", bits(1), "permission denied")));

        assertEquals(
                List.of(
                        "data: over TCP, ranks 0 (host a) and 1 (host a)",
                        "ranks 0-1 do not share memory: rank 1 says: permission denied"),
                one.lines(TCP));
    }

    @Test
    void twoHostsWithOneNameAreDistinguishedByAddress() {
        RankReport first = new RankReport("boot 1", "box", "alone", bits(0), "");
        RankReport second = new RankReport("boot 2", "box", "alone", bits(1), "");

        assertEquals(
                List.of("data: over TCP, ranks 0 (host box at 10.0.0.1) and 1 (host box at 10.0.0.2)"),
                new NodeTopology(List.of(first, second)).lines(TCP));
        assertEquals(
                "ranks 0-1 do not share memory: hosts are (boot 1) and (boot 2)",
                new NodeTopology(List.of(first, second)).whyNot());
        assertEquals(
                List.of("data: ranks 0, 2 (host a) over shared memory, rank 1 (host b), between hosts over TCP"),
                new NodeTopology(List.of(on("a", 0, 2), on("b", 1), on("a", 0, 2))).lines(TCP));
    }

    @Test
    void aThousandRanksOnManyHostsAreReportedInFewLines() {
        int ranks = 1024;
        int perHost = 8;
        List<RankReport> said = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            BitSet reached = new BitSet();
            reached.set(rank / perHost * perHost, (rank / perHost + 1) * perHost);
            said.add(new RankReport("boot " + rank / perHost, "h" + rank / perHost, "", reached, ""));
        }
        NodeTopology many = new NodeTopology(said);

        List<String> lines = many.lines(TCP);

        assertEquals(1, lines.size(), lines::toString);
        assertEquals(
                "data: ranks 0-7 (host h0), 8-15 (host h1), 16-23 (host h2), 24-31 (host h3), 32-39 (host h4),"
                        + " 40-47 (host h5), 48-55 (host h6), 56-63 (host h7) and more on 120 hosts over shared memory,"
                        + " between hosts over TCP",
                lines.get(0));
        String why = many.whyNot();
        assertTrue(why.endsWith("; other pairs do not share memory for 8112 more reasons"), why);
        assertTrue(many.areNear(1016, 1023));
    }

    @Test
    void withoutSharedMemoryOneReasonIsGivenForAll() {
        assertEquals(
                List.of("data: over TCP", "ranks 0-1, 0-2, 1-2 do not share memory: switched off"),
                NodeTopology.none(3, "switched off").lines(TCP));
        assertEquals(
                List.of("ranks 0-1 do not share memory: switched off"),
                NodeTopology.none(2, "switched off").lines(Medium.UNKNOWN));
    }

    @Test
    void encryptionIsReportedWithAndWithoutSharedMemory() {
        Medium encrypted = TCP.with("TCP with TLS");
        NodeTopology two = new NodeTopology(List.of(on("a", 0, 1), on("a", 0, 1), on("b", 2)));
        NodeTopology alone = new NodeTopology(List.of(on("a", 0), on("b", 1)));

        assertEquals(
                "data: ranks 0-1 (host a) over shared memory, rank 2 (host b), between hosts over TCP with TLS",
                two.lines(encrypted).get(0));
        assertEquals(
                "data: over TCP with TLS, ranks 0 (host a) and 1 (host b)",
                alone.lines(encrypted).get(0));
        assertEquals(
                "data: over TCP with TLS",
                NodeTopology.none(2, "switched off").lines(encrypted).get(0));
    }

    private static RankReport on(String host, int... reached) {
        return new RankReport(host, host, "", bits(reached), "");
    }

    private static BitSet bits(int... set) {
        BitSet bits = new BitSet();
        for (int bit : set) {
            bits.set(bit);
        }
        return bits;
    }
}
