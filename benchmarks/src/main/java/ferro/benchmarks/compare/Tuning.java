package ferro.benchmarks.compare;

import ferro.benchmarks.Measured;
import ferro.benchmarks.compare.Measurement.Item;
import ferro.collectives.algorithm.AlgorithmRegistry;
import ferro.collectives.algorithm.Topology;
import ferro.collectives.algorithm.TunedRows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Finds the fastest algorithm for each collective, world size and size. Every algorithm is a contestant of its own. */
final class Tuning {
    private final Ratios ratios;

    Tuning(List<Measurement> measurements) {
        ratios = new Ratios(measurements);
    }

    /** Returns the comparisons to measure: one per collective with a choice, of all its algorithms. */
    static List<CompareOptions> of(CompareOptions all) {
        List<CompareOptions> each = new ArrayList<>();
        for (Measured collective : all.collectives()) {
            List<String> contestants = new ArrayList<>();
            for (String base : all.contestants()) {
                List<String> algorithms = algorithms(base, collective);
                if (algorithms.size() > 1) {
                    algorithms.forEach(name -> contestants.add(named(base, collective, name)));
                }
            }
            if (!contestants.isEmpty()) {
                each.add(all.of(collective, contestants));
            }
        }
        return each;
    }

    private static List<String> algorithms(String base, Measured collective) {
        Topology topology = MediumName.of(base) == MediumName.TCP ? Topology.FLAT : Topology.SHARED_MEMORY;
        return AlgorithmRegistry.names(collective.kind(), topology);
    }

    /** Returns the name that the starter reads, such as ferro-tcp+allReduce=ring@25. */
    private static String named(String base, Measured collective, String algorithm) {
        return base.replace("@", "+" + collective.kind() + "=" + algorithm + "@");
    }

    private static String algorithm(String contestant) {
        return contestant.substring(contestant.indexOf('=') + 1, contestant.indexOf('@'));
    }

    /** Writes the table that the setting ferro.algorithm.table reads, and prints it. */
    void write(Path file) throws IOException {
        StringBuilder text =
                new StringBuilder("# measured by ferro bench --tune; kind, ranks, up to bytes, algorithm\n");
        TreeSet<String> tables = new TreeSet<>();
        ratios.items().forEach(item -> tables.add(item.collective() + " " + item.ranks()));
        for (String table : tables) {
            List<Item> items = ratios.items().stream()
                    .filter(item -> table.equals(item.collective() + " " + item.ranks()))
                    .sorted(Comparator.comparingLong(Item::bytes))
                    .toList();
            for (MediumName medium : MediumName.values()) {
                text.append(rows(items, medium));
            }
        }
        TunedRows.parse(text.toString());
        Files.writeString(file, text);
        System.out.print(text);
    }

    /** Returns a line per run of sizes with the same fastest algorithm. The last line covers all larger sizes. */
    private String rows(List<Item> items, MediumName medium) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < items.size(); i++) {
            Item item = items.get(i);
            Optional<String> fastest = fastest(item, medium);
            boolean last = i == items.size() - 1;
            if (fastest.isPresent() && (last || !fastest.equals(fastest(items.get(i + 1), medium)))) {
                text.append(Measured.parse(item.collective()).kind()).append(' ');
                text.append(item.ranks()).append(' ');
                text.append(last ? "max" : "" + item.bytes()).append(' ');
                text.append(fastest.get()).append('\n');
            }
        }
        return text.toString();
    }

    private Optional<String> fastest(Item item, MediumName medium) {
        return ratios.contestants(item).stream()
                .filter(name -> name.contains("=") && MediumName.of(name) == medium)
                .min(Comparator.comparingDouble(
                        name -> ratios.micros(item, name).orElseThrow().middle()))
                .map(Tuning::algorithm);
    }
}
