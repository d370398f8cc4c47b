package ferro.collectives.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.collectives.plan.Algorithm.Topology;
import ferro.collectives.shared.SharedCall;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class AlgorithmTest {
    private static final Path PAGE = Path.of("../docs/algorithms.md");
    private static final Pattern TWINS = Pattern.compile("\\| `(\\w+)` \\| (none|`\\w+`) \\| .*");
    private static final Pattern ROW = Pattern.compile("\\| (\\w+) \\| `(\\w+)` \\|.*");

    @Test
    void everyKindCanBeDoneByMessagesAndAllButScansInSharedMemory() {
        for (CollectiveKind kind : CollectiveKind.values()) {
            assertFalse(Algorithm.names(kind, Topology.FLAT).isEmpty(), kind.label());
            boolean isShared = !Algorithm.names(kind, Topology.SHARED_MEMORY).isEmpty();
            assertEquals(!kind.isScan(), isShared, kind.label());
        }
    }

    @Test
    void aNameIsOneAlgorithmOfItsKindAndThatOfItsPlans() {
        Hosts hosts = Hosts.of(4, (a, b) -> a / 2 == b / 2).orElseThrow();
        Set<String> seen = new HashSet<>();
        for (Algorithm row : Algorithm.all()) {
            assertTrue(seen.add(row.toString()), row + " stands there twice");
            String made = row.topology() == Topology.SHARED_MEMORY
                    ? row.program(new SharedCall(row.kind(), 0, 4, 0, 64, Float.BYTES, 1), 4096)
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
    void thePageHasARowForEach() throws IOException {
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
