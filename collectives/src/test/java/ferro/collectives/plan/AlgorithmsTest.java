package ferro.collectives.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.collectives.plan.Algorithm.Topology;
import ferro.collectives.shared.ProgramCall;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The table, its page, and the proof of every algorithm of the table for sizes 1 to 64. */
class AlgorithmsTest {
    private static final int ALL_ROOTS_UP_TO = 17;

    @ParameterizedTest(name = "{0} by {1}")
    @MethodSource("algorithms")
    void everyAlgorithmIsProvedForEverySizeAndRoot(CollectiveKind kind, String algorithm) {
        for (int size = 1; size <= 64; size++) {
            for (int root : roots(kind, size)) {
                assertEquals(Optional.empty(), PlanVerifier.verify(kind, plans(kind, algorithm, size, root), root));
            }
        }
    }

    @ParameterizedTest(name = "{0} by {1}")
    @MethodSource("algorithms")
    void everyAlgorithmIsProvedInSegments(CollectiveKind kind, String algorithm) {
        if (kind == CollectiveKind.BARRIER) {
            return; // has no elements to cut
        }
        for (int size : new int[] {1, 2, 3, 4, 5, 7, 8, 12}) {
            for (int root : roots(kind, size)) {
                for (int segments : new int[] {2, 3}) {
                    List<Plan> cut = plans(kind, algorithm, size, root).stream()
                            .map(plan -> Segmented.plan(plan, segments))
                            .toList();
                    assertEquals(Optional.empty(), PlanVerifier.verify(kind, cut, root));
                }
            }
        }
    }

    /** An op that does not commute needs the order of the ranks, for every root. */
    @ParameterizedTest(name = "{0} by {1}")
    @MethodSource("algorithms")
    void anAlgorithmCombinesInRankOrderExactlyIfTheTableSaysSo(CollectiveKind kind, String algorithm) {
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
        return IntStream.range(0, size)
                .mapToObj(rank -> Algorithm.of(kind, algorithm).plan(rank, size, root, null))
                .toList();
    }

    private static final Path PAGE = Path.of("../docs/algorithms.md");
    private static final Pattern TWINS = Pattern.compile("\\| `(\\w+)` \\| (none|`\\w+`) \\| .*");
    private static final Pattern ROW = Pattern.compile("\\| (\\w+) \\| `(\\w+)` \\|.*");

    @Test
    void everyKindHasMessageAlgorithmsAndAllButScansSharedMemoryOnes() {
        for (CollectiveKind kind : CollectiveKind.values()) {
            assertFalse(Algorithm.names(kind, Topology.FLAT).isEmpty(), kind.label());
            boolean isShared = !Algorithm.names(kind, Topology.SHARED_MEMORY).isEmpty();
            assertEquals(!kind.isScan(), isShared, kind.label());
        }
    }

    @Test
    void algorithmNamesAreUniqueAndThoseOfTheirPlans() {
        Hosts hosts = Hosts.of(4, (a, b) -> a / 2 == b / 2).orElseThrow();
        Set<String> seen = new HashSet<>();
        for (Algorithm row : Algorithm.all()) {
            assertTrue(seen.add(row.toString()), row + " stands there twice");
            String made = row.topology() == Topology.SHARED_MEMORY
                    ? row.program(new ProgramCall(row.kind(), 0, 4, 0, 64, Float.BYTES, 1), 4096)
                            .algorithm()
                    : row.plan(0, 4, 0, hosts).algorithm();
            assertEquals(row.label(), made, row.toString());
        }
    }

    @Test
    void thePageNamesTheTwinOfEachReduceScatter() throws IOException {
        Set<String> onPage = new TreeSet<>();
        for (String line : Files.readAllLines(PAGE)) {
            Matcher row = TWINS.matcher(line);
            if (row.matches()) {
                onPage.add(row.group(1) + " " + row.group(2));
            }
        }
        Set<String> twins = new TreeSet<>();
        for (Algorithm row : Algorithm.all()) {
            if (row.kind() == CollectiveKind.ALL_REDUCE) {
                assertFalse(Algorithm.twins(row).isEmpty(), row + " has no twin");
                Algorithm.twins(row).forEach(twin -> twins.add(twin.label() + " `" + row.label() + "`"));
            }
        }
        Algorithm.all().stream()
                .filter(row -> row.kind() == CollectiveKind.REDUCE_SCATTER)
                .map(Algorithm::label)
                .filter(name -> twins.stream().noneMatch(twin -> twin.startsWith(name + " ")))
                .forEach(name -> twins.add(name + " none"));
        assertEquals(twins, onPage);
    }

    @Test
    void thePageHasARowForEachAlgorithm() throws IOException {
        Set<String> onPage = new TreeSet<>();
        Topology topology = Topology.FLAT;
        for (String line : Files.readAllLines(PAGE)) {
            topology = line.equals("## In shared memory")
                    ? Topology.SHARED_MEMORY
                    : line.equals("## Several hosts") ? Topology.HOSTS : topology;
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                onPage.add(topology + " " + row.group(1) + " by " + row.group(2));
            }
        }
        List<Algorithm> all = Algorithm.all();
        assertEquals(
                all.stream().map(row -> row.topology() + " " + row).collect(Collectors.toCollection(TreeSet::new)),
                onPage);
    }
}
