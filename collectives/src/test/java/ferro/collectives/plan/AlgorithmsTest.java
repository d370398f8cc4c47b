package ferro.collectives.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.collectives.plan.Algorithm.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The proof of every algorithm of the table, for sizes 1 to 64. */
class AlgorithmsTest {
    private static final int ALL_ROOTS_UP_TO = 17;

    @ParameterizedTest(name = "{0} by {1}")
    @MethodSource("algorithms")
    void isProvedForEverySizeAndRoot(CollectiveKind kind, String algorithm) {
        for (int size = 1; size <= 64; size++) {
            for (int root : roots(kind, size)) {
                assertEquals(Optional.empty(), PlanVerifier.verify(kind, plans(kind, algorithm, size, root), root));
            }
        }
    }

    @ParameterizedTest(name = "{0} by {1}")
    @MethodSource("algorithms")
    void isProvedInSegments(CollectiveKind kind, String algorithm) {
        if (kind == CollectiveKind.BARRIER) {
            return; // has no elements to cut
        }
        for (int size : new int[] {1, 2, 3, 4, 5, 7, 8, 12}) {
            for (int root : roots(kind, size)) {
                for (int segments : new int[] {2, 3}) {
                    List<Plan> cut = new ArrayList<>();
                    for (Plan plan : plans(kind, algorithm, size, root)) {
                        cut.add(Segmented.plan(plan, segments));
                    }
                    assertEquals(Optional.empty(), PlanVerifier.verify(kind, cut, root));
                }
            }
        }
    }

    /** An op that does not commute needs the order of the ranks, for every root. */
    @ParameterizedTest(name = "{0} by {1}")
    @MethodSource("algorithms")
    void isInRankOrderIfItsRowSaysSo(CollectiveKind kind, String algorithm) {
        boolean isInOrder = Algorithm.of(kind, algorithm).isInRankOrder();
        boolean isFoundOut = false;
        for (int size = 1; size <= 64 && kind.combines(); size++) {
            for (int root : roots(kind, size)) {
                Optional<String> why = PlanVerifier.whyNotInRankOrder(kind, plans(kind, algorithm, size, root), root);
                isFoundOut |= why.isPresent();
                assertTrue(why.isEmpty() || !isInOrder, why::toString);
            }
        }
        assertEquals(kind.combines() && !isInOrder, isFoundOut);
    }

    static List<Arguments> algorithms() {
        List<Arguments> all = new ArrayList<>();
        for (CollectiveKind kind : CollectiveKind.values()) {
            for (String algorithm : Algorithm.names(kind, Topology.FLAT)) {
                all.add(Arguments.of(kind, algorithm));
            }
        }
        return all;
    }

    private static List<Integer> roots(CollectiveKind kind, int size) {
        if (!kind.isRooted()) {
            return List.of(0);
        }
        List<Integer> roots = new ArrayList<>();
        for (int root = 0; root < size; root += size <= ALL_ROOTS_UP_TO ? 1 : 1 + size / 4) {
            roots.add(root);
        }
        if (size > ALL_ROOTS_UP_TO) {
            roots.add(size - 1);
        }
        return roots;
    }

    private static List<Plan> plans(CollectiveKind kind, String algorithm, int size, int root) {
        List<Plan> plans = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            plans.add(Algorithm.of(kind, algorithm).plan(rank, size, root, null));
        }
        return plans;
    }
}
