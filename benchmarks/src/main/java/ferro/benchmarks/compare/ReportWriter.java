package ferro.benchmarks.compare;

import ferro.benchmarks.compare.Measurement.CoreDistance;
import ferro.benchmarks.compare.Measurement.SizedCall;
import ferro.benchmarks.compare.Ratios.Ratio;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A writer of ratios.csv, ratios.md, ranks.md, targets.md and a chart per collective, world size and medium. */
final class ReportWriter {
    private static final List<CoreDistance> STATES = List.of(CoreDistance.NEAR, CoreDistance.FAR);
    private static final String CSV_HEAD =
            "ranks,collective,bytes,contestant,opponent,state,rounds,us,opponent_us,ratio,ratio_least,ratio_most";

    private final Ratios ratios;
    private final Path folder;

    ReportWriter(List<Measurement> measurements, Path folder) {
        ratios = new Ratios(measurements);
        this.folder = folder;
    }

    /** Writes all files and prints the tables. */
    void write() throws IOException {
        Files.writeString(folder.resolve("ratios.csv"), csv());
        String tables = markdown();
        Files.writeString(folder.resolve("ratios.md"), tables);
        Files.writeString(folder.resolve("ranks.md"), new RatioTable(ratios).markdown());
        Files.writeString(folder.resolve("targets.md"), new Targets(ratios).markdown());
        System.out.print(tables);
        try {
            drawCharts();
        } catch (IOException noFonts) {
            System.err.println("compare: no charts: " + noFonts.getMessage());
        }
    }

    private void drawCharts() throws IOException {
        for (Map.Entry<String, List<SizedCall>> table : tables().entrySet()) {
            for (TransportMedium medium : TransportMedium.values()) {
                new Chart(ratios, table.getValue(), medium).write(MachineDescription.notes(folder), folder);
            }
        }
    }

    /** Returns the items, grouped by collective and world size. */
    private Map<String, List<SizedCall>> tables() {
        Map<String, List<SizedCall>> tables = new LinkedHashMap<>();
        for (SizedCall item : ratios.items()) {
            tables.computeIfAbsent(item.collective() + ", " + item.ranks() + " ranks", title -> new ArrayList<>())
                    .add(item);
        }
        tables.values().forEach(items -> items.sort(Comparator.comparingLong(SizedCall::bytes)));
        return tables;
    }

    private String csv() {
        StringBuilder lines = new StringBuilder(CSV_HEAD).append('\n');
        for (SizedCall item : ratios.items()) {
            for (String contestant : ratios.contestants(item)) {
                for (String opponent : ratios.contestants(item)) {
                    lines.append(csv(item, contestant, opponent));
                }
            }
        }
        return lines.toString();
    }

    private String csv(SizedCall item, String contestant, String opponent) {
        StringBuilder lines = new StringBuilder();
        if (TransportMedium.ours(contestant) && !contestant.equals(opponent)) {
            for (CoreDistance state : STATES) {
                ratios.ratio(item, contestant, opponent, state)
                        .ifPresent(ratio -> lines.append(csv(item, contestant, state, ratio)));
            }
        }
        return lines.toString();
    }

    private static String csv(SizedCall item, String contestant, CoreDistance state, Ratio ratio) {
        return String.format(
                Locale.ROOT,
                "%d,%s,%d,%s,%s,%s,%d,%.4f,%.4f,%.4f,%.4f,%.4f%n",
                item.ranks(),
                item.collective(),
                item.bytes(),
                contestant,
                ratio.opponent(),
                state.label(),
                ratio.ratio().count(),
                ratio.micros().middle(),
                ratio.theirs().middle(),
                ratio.ratio().middle(),
                ratio.ratio().least(),
                ratio.ratio().most());
    }

    private String markdown() {
        StringBuilder text = new StringBuilder();
        tables().forEach((title, items) -> {
            for (String contestant : ratios.contestants()) {
                if (TransportMedium.ours(contestant)
                        && items.stream()
                                .anyMatch(
                                        item -> ratios.micros(item, contestant).isPresent())) {
                    text.append(table(title, items, contestant)).append('\n');
                }
            }
        });
        return text.toString();
    }

    private String table(String title, List<SizedCall> items, String contestant) {
        List<String> peers = TransportMedium.peers(contestant, ratios.contestants());
        List<String> others = ratios.contestants().stream()
                .filter(name ->
                        !TransportMedium.ours(name) && TransportMedium.of(name) == TransportMedium.of(contestant))
                .toList();
        StringBuilder text = new StringBuilder();
        text.append("### ")
                .append(title)
                .append(", ")
                .append(contestant)
                .append('\n')
                .append('\n');
        text.append("| size | us | best peer, near | ratio, near | best peer, far | ratio, far |");
        others.forEach(name -> text.append(" by ").append(name).append(" |"));
        text.append('\n')
                .append("|---|---|---|---|---|---|")
                .append("---|".repeat(others.size()))
                .append('\n');
        for (SizedCall item : items) {
            text.append("| ").append(SizeFormatter.label(item.bytes())).append(" | ");
            text.append(ratios.micros(item, contestant)
                    .map(micros -> micros(micros.middle()))
                    .orElse("-"));
            for (CoreDistance state : STATES) {
                Optional<Ratio> best = ratios.best(item, contestant, peers, state);
                text.append(" | ").append(best.map(ReportWriter::opponent).orElse("-"));
                text.append(" | ").append(best.map(ReportWriter::spread).orElse("-"));
            }
            text.append(" |");
            others.forEach(name ->
                    text.append(' ').append(both(item, contestant, name)).append(" |"));
            text.append('\n');
        }
        return text.toString();
    }

    private static String opponent(Ratio ratio) {
        return ratio.opponent() + " " + micros(ratio.theirs().middle());
    }

    private static String spread(Ratio ratio) {
        MedianSummary all = ratio.ratio();
        return String.format(
                Locale.ROOT, "**%.2f** (%.2f to %.2f, %d)", all.middle(), all.least(), all.most(), all.count());
    }

    /** Returns the ratio between near cores and the ratio between far cores, separated by a slash. */
    private String both(SizedCall item, String contestant, String opponent) {
        List<String> cells = STATES.stream()
                .map(state -> ratios.ratio(item, contestant, opponent, state))
                .map(ratio -> ratio.map(found ->
                                String.format(Locale.ROOT, "%.2f", found.ratio().middle()))
                        .orElse("-"))
                .toList();
        return String.join(" / ", cells);
    }

    /** Formats a value with three significant digits. */
    private static String micros(double value) {
        return String.format(
                Locale.ROOT, value < 1 ? "%.3f" : value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
    }
}
