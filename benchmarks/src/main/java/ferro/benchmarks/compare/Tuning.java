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

/** Which algorithm is fastest for each collective, world size and size: every algorithm is a contestant of its own. */
final class Tuning {
    private final Ratios ratios;

    Tuning(List<Measurement> measurements) {
        ratios = new Ratios(measurements);
    }

    /** Returns what to measure: one comparison per collective that has a choice, of all its algorithms. */
    static List<Options> of(Options all) {
        List<Options> each = new ArrayList<>();
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
        Topology topology = Medium.of(base) == Medium.TCP ? Topology.FLAT : Topology.SHARED_MEMORY;
        return AlgorithmRegistry.names(collective.kind(), topology);
    }

    /** As the starter reads it: ferro-tcp+allReduce=ring@25. */
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
            for (Medium medium : Medium.values()) {
                text.append(rows(items, medium));
            }
        }
        TunedRows.parse(text.toString());
        Files.writeString(file, text);
        System.out.print(text);
    }

    /** A line per run of sizes with the same fastest algorithm; the last one for whatever is larger. */
    private String rows(List<Item> items, Medium medium) {
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

    private Optional<String> fastest(Item item, Medium medium) {
        return ratios.contestants(item).stream()
                .filter(name -> name.contains("=") && Medium.of(name) == medium)
                .min(Comparator.comparingDouble(
                        name -> ratios.micros(item, name).orElseThrow().middle()))
                .map(Tuning::algorithm);
    }
}
