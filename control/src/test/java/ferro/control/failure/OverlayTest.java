package ferro.control.failure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.Random;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The graph over which failures and leaves reach all ranks: degree, diameter, and the effect of gone ranks. */
class OverlayTest {
    private static final BitSet NONE = new BitSet();
    private static final int MAX_MESH = 33;
    private static final int HOST = 8;

    private static BitSet neighbours(int rank, int worldSize, BitSet gone) {
        return new Overlay(rank, worldSize, MAX_MESH, Overlay.ALL_STEPS).neighbours(gone);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8, 32, 33})
    void aSmallGroupIsAFullMesh(int worldSize) {
        BitSet gone = BitSet.valueOf(new long[] {0b100});
        for (int rank = 0; rank < worldSize; rank++) {
            BitSet others = new BitSet();
            others.set(0, worldSize);
            others.clear(rank);
            assertEquals(others, neighbours(rank, worldSize, NONE));
            assertEquals(others, neighbours(rank, worldSize, gone), "no rank replaces another");
        }
    }

    @ParameterizedTest
    @CsvSource({"34, 10", "64, 11", "128, 13", "1000, 20", "1024, 19", "10000, 28"})
    @DisplayName("the degree is at most 2 log n, far below that of the mesh")
    void theNumberOfNeighboursGrowsWithTheLogarithmOfTheRanks(int worldSize, int degree) {
        for (int rank : new int[] {0, 1, worldSize / 2, worldSize - 1}) {
            int found = neighbours(rank, worldSize, NONE).cardinality();
            assertTrue(found <= degree, found + " neighbours");
            assertTrue(found <= 2 * log(worldSize), found + " neighbours");
            assertTrue(3 * found < worldSize - 1, "as many as in the mesh");
        }
        assertEquals(degree, neighbours(0, worldSize, NONE).cardinality());
    }

    @ParameterizedTest
    @CsvSource({"64, 3", "128, 4", "1024, 5", "10000, 6"})
    void allRanksAreReachedInFewHops(int worldSize, int diameter) {
        assertEquals(diameter, hops(0, worldSize, NONE));
    }

    @Test
    void aRankIsANeighbourOfItsNeighbours() {
        for (int worldSize : new int[] {5, 34, 40, 64, 100, 129}) {
            for (int rank = 0; rank < worldSize; rank++) {
                Overlay overlay = new Overlay(rank, worldSize, 4, Overlay.ALL_STEPS);
                BitSet own = overlay.neighbours(NONE);
                for (int peer = 0; peer < worldSize; peer++) {
                    assertEquals(own.get(peer), overlay.isNeighbour(peer), rank + " and " + peer);
                    Overlay other = new Overlay(peer, worldSize, 4, Overlay.ALL_STEPS);
                    assertEquals(own.get(peer), other.isNeighbour(rank), peer + " and " + rank);
                }
            }
        }
    }

    @Test
    @DisplayName("the first edges connect the other ranks as long as fewer ranks are gone than a rank has neighbours")
    void otherRanksStayConnectedWhenFewerRanksAreGoneThanNeighbours() {
        Random random = new Random(48);
        for (int worldSize : new int[] {34, 40, 64, 100, 256, 1000}) {
            for (int draw = 0; draw < 40; draw++) {
                int rank = random.nextInt(worldSize);
                BitSet around = neighbours(rank, worldSize, NONE);
                int[] some = around.stream().toArray();
                around.clear(some[random.nextInt(some.length)]);
                assertTrue(isConnectedBy(Overlay.ALL_STEPS, worldSize, around), worldSize + " without " + around);
                BitSet any = new BitSet();
                while (any.cardinality() < some.length - 1) {
                    any.set(random.nextInt(worldSize));
                }
                assertTrue(isConnectedBy(Overlay.ALL_STEPS, worldSize, any), worldSize + " without " + any);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {40, 64, 128, 1000})
    void otherRanksStayConnectedWhenOneOrTwoHostsAreGone(int worldSize) {
        // the graph is the same from the view of each host, so host 0 stands for all
        for (int other = 0; other < worldSize / HOST; other++) {
            BitSet gone = new BitSet();
            gone.set(0, HOST);
            gone.set(other * HOST, (other + 1) * HOST);
            assertTrue(isConnectedBy(Overlay.ALL_STEPS, worldSize, gone), "by its first edges without " + gone);
            assertTrue(isConnected(worldSize, gone), "without " + gone);
        }
    }

    @Test
    @DisplayName("the next rank replaces a rank that is gone: hosts 0, 3 and 6 of eight stay connected")
    void theNextRankReplacesARankThatIsGone() {
        BitSet gone = new BitSet();
        for (int host : new int[] {1, 2, 4, 5, 7}) {
            gone.set(host * HOST, (host + 1) * HOST);
        }
        assertFalse(isConnectedBy(Overlay.ALL_STEPS, 64, gone), "by its first edges host 3 is alone");
        assertTrue(isConnected(64, gone));
        assertEquals(6 * HOST, new Overlay(31, 64, MAX_MESH, Overlay.ALL_STEPS).next(gone));
        assertEquals(7, new Overlay(24, 64, MAX_MESH, Overlay.ALL_STEPS).previous(gone));
    }

    @Test
    void remainingRanksAreConnectedWhicheverRanksAreGone() {
        Random random = new Random(49);
        for (int draw = 0; draw < 200; draw++) {
            int worldSize = 34 + random.nextInt(200);
            BitSet gone = new BitSet();
            int share = 1 + random.nextInt(99);
            IntStream.range(0, worldSize)
                    .filter(rank -> random.nextInt(100) < share)
                    .forEach(gone::set);
            gone.clear(random.nextInt(worldSize));
            assertTrue(isConnected(worldSize, gone), worldSize + " without " + gone);
        }
    }

    @Test
    void theLastRankHasNoNeighbour() {
        BitSet gone = new BitSet();
        gone.set(0, 40);
        gone.clear(7);
        Overlay last = new Overlay(7, 40, MAX_MESH, Overlay.ALL_STEPS);
        assertEquals(NONE, last.neighbours(gone));
        assertEquals(7, last.next(gone));
        assertEquals(7, last.previous(gone));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8, 16, 32})
    @DisplayName("a graph that forgets a step is found: it breaks when fewer ranks are gone")
    void anOverlayWithoutOneStepBreaksWithFewerGoneRanks(int forgotten) {
        IntPredicate steps = step -> step != forgotten;
        BitSet around = new Overlay(0, 64, MAX_MESH, steps).neighbours(NONE);
        assertTrue(around.cardinality() < 11, around + " are all neighbours");
        assertFalse(isConnectedBy(steps, 64, around), "without " + around);
        assertTrue(isConnectedBy(Overlay.ALL_STEPS, 64, around), "without " + around);
    }

    private static int log(int worldSize) {
        return 32 - Integer.numberOfLeadingZeros(worldSize - 1);
    }

    /** Returns whether messages of each remaining rank reach all others, also over edges to replacements. */
    private static boolean isConnected(int worldSize, BitSet gone) {
        return hops(gone.nextClearBit(0), worldSize, gone) >= 0;
    }

    /** Returns the number of hops from a rank to the farthest one, or -1 if it does not reach all remaining ranks. */
    private static int hops(int from, int worldSize, BitSet gone) {
        int[] distance = new int[worldSize];
        Deque<Integer> open = new ArrayDeque<>();
        BitSet reached = (BitSet) gone.clone();
        reached.set(from);
        open.add(from);
        int max = 0;
        while (!open.isEmpty()) {
            int rank = open.remove();
            max = Math.max(max, distance[rank]);
            BitSet next = neighbours(rank, worldSize, gone);
            next.andNot(reached);
            next.stream().forEach(peer -> {
                distance[peer] = distance[rank] + 1;
                open.add(peer);
            });
            reached.or(next);
        }
        return reached.cardinality() == worldSize ? max : -1;
    }

    /** Returns whether the original edges, without replacements, connect the remaining ranks. */
    private static boolean isConnectedBy(IntPredicate steps, int worldSize, BitSet gone) {
        BitSet reached = (BitSet) gone.clone();
        Deque<Integer> open = new ArrayDeque<>();
        open.add(gone.nextClearBit(0));
        reached.set(gone.nextClearBit(0));
        while (!open.isEmpty()) {
            BitSet next = new Overlay(open.remove(), worldSize, MAX_MESH, steps).neighbours(NONE);
            next.andNot(reached);
            next.stream().forEach(open::add);
            reached.or(next);
        }
        return reached.cardinality() == worldSize;
    }
}
