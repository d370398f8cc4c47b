package ferro.benchmarks.compare;

import ferro.benchmarks.compare.Measurement.CoreDistance;
import ferro.benchmarks.compare.Measurement.SizedCall;
import ferro.benchmarks.compare.Ratios.Ratio;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A table of ratios of ferro to the fastest other library of the same medium. The table has a row per collective and
 * size, and a column per contestant and world size. Ratios above 1 are bold.
 */
final class RatioTable {
    private static final double EQUAL = 1.005;

    private final Ratios ratios;

    RatioTable(Ratios ratios) {
        this.ratios = ratios;
    }

    private record Row(String collective, long bytes) {}

    /** Returns the table in Markdown. A cell without a paired round is a dash. */
    String markdown() {
        List<String> ours = ratios.contestants().stream()
                .filter(TransportMedium::ours)
                .sorted()
                .toList();
        Set<Integer> worlds = new TreeSet<>();
        Set<Row> rows = new LinkedHashSet<>();
        for (SizedCall item : ratios.items()) {
            worlds.add(item.ranks());
            rows.add(new Row(item.collective(), item.bytes()));
        }
        StringBuilder text = new StringBuilder("| collective | size |");
        ours.forEach(name -> worlds.forEach(ranks -> text.append(String.format(" %s, %d ranks |", name, ranks))));
        text.append("\n|---|---|")
                .append("---|".repeat(ours.size() * worlds.size()))
                .append('\n');
        for (Row row : rows) {
            text.append(String.format("| %s | %s |", row.collective, SizeFormatter.label(row.bytes)));
            for (String name : ours) {
                worlds.forEach(ranks -> text.append(cell(new SizedCall(ranks, row.collective, row.bytes), name)));
            }
            text.append('\n');
        }
        return text.toString();
    }

    private String cell(SizedCall item, String contestant) {
        List<String> peers = TransportMedium.peers(contestant, ratios.contestants());
        // the state of the machine in which most rounds were made
        Optional<Ratio> shown = EnumSet.complementOf(EnumSet.of(CoreDistance.CHANGED)).stream()
                .flatMap(state -> ratios.best(item, contestant, peers, state).stream())
                .max(Comparator.comparingInt(ratio -> ratio.ratio().count()));
        return shown.map(ratio -> ratio.ratio().middle())
                .map(ratio -> String.format(Locale.ROOT, ratio >= EQUAL ? " **%.2f** |" : " %.2f |", ratio))
                .orElse(" - |");
    }
}
