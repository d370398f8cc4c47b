package ferro.integration.faults;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** What docs/faults/peers/drill.sh measured on the peers, one line a surviving rank in docs/faults/peers.csv. */
record PeerFigures(List<Map<String, String>> rows) {
    static PeerFigures kept(Path file) throws IOException {
        return new PeerFigures(Table.read(file));
    }

    String table() {
        Map<String, List<Map<String, String>>> cells = new LinkedHashMap<>();
        for (Map<String, String> row : rows) {
            String key =
                    row.get("fault") + " | " + row.get("peer") + " " + row.get("version") + " | " + row.get("medium");
            cells.computeIfAbsent(key, name -> new ArrayList<>()).add(row);
        }
        return "| fault | peer | medium | runs | what the ranks met | after, ms | culprit's rank named |\n"
                + "|---|---|---|---|---|---|---|\n"
                + cells.entrySet().stream()
                        .map(cell -> "| " + cell.getKey() + " | " + summary(cell.getValue()) + " |\n")
                        .collect(Collectors.joining());
    }

    private static String summary(List<Map<String, String>> samples) {
        Map<String, Long> outcomes = samples.stream()
                .collect(Collectors.groupingBy(row -> row.get("outcome"), LinkedHashMap::new, Collectors.counting()));
        List<Double> millis = samples.stream()
                .map(row -> row.get("millis"))
                .filter(text -> !text.isEmpty())
                .map(Double::valueOf)
                .sorted()
                .toList();
        String after = millis.isEmpty()
                ? "-"
                : String.format(Locale.ROOT, "%.0f to %.0f", millis.get(0), millis.get(millis.size() - 1));
        return String.join(
                " | ",
                "" + samples.stream().map(row -> row.get("run")).distinct().count(),
                outcomes.entrySet().stream()
                        .map(outcome -> outcome.getValue() + " " + outcome.getKey())
                        .collect(Collectors.joining(", ")),
                after,
                samples.stream().map(row -> row.get("named")).distinct().collect(Collectors.joining(", ")));
    }
}
