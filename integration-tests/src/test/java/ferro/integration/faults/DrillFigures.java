package ferro.integration.faults;

import ferro.integration.Links;
import ferro.integration.drill.Cell;
import ferro.integration.drill.DrillFault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What {@code -Pdrill} measured: many lines in the module's folder, one line a fault in docs/faults/drill.csv. */
record DrillFigures(List<Map<String, String>> rows) {
    static final String HEADER =
            "row,fault,medium,load,heap_mib,ranks,cores,runs,samples,median_ms,worst_ms,promised_ms,over,named_wrong,disagreed";

    private static final List<String> CELL = List.of("row", "fault", "medium", "load", "heap_mib", "ranks", "cores");

    static DrillFigures kept(Path file) throws IOException {
        return new DrillFigures(Table.read(file));
    }

    /** Sums up the files of a folder; what was kept of other faults, media and loads stays. */
    static void sumUp(Path folder, Path file) throws IOException {
        Map<String, List<Map<String, String>>> cells = new TreeMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path each : files.sorted().toList()) {
                for (Map<String, String> row : Table.read(each)) {
                    cells.computeIfAbsent(cell(row), name -> new ArrayList<>()).add(row);
                }
            }
        }
        Map<String, String> lines =
                new TreeMap<>(Comparator.comparing((String key) -> Integer.parseInt(key.substring(0, key.indexOf(','))))
                        .thenComparing(Comparator.naturalOrder()));
        Set<String> faults =
                Stream.of(DrillFault.values()).map(DrillFault::toString).collect(Collectors.toSet());
        for (Map<String, String> row : Table.read(file)) {
            if (faults.contains(row.get("fault"))) {
                lines.put(cell(row), String.join(",", row.values()));
            }
        }
        cells.forEach((cell, samples) -> lines.put(cell, cell + "," + summary(samples)));
        Files.writeString(file, HEADER + "\n" + String.join("\n", lines.values()) + "\n");
    }

    private static String cell(Map<String, String> row) {
        return CELL.stream().map(row::get).collect(Collectors.joining(","));
    }

    private static String summary(List<Map<String, String>> samples) {
        List<Double> millis =
                samples.stream().map(row -> number(row, "millis")).sorted().toList();
        double promised = number(samples.get(0), "promised_millis");
        Map<String, Set<String>> settledByRun = new TreeMap<>();
        long wrong = 0;
        for (Map<String, String> row : samples) {
            String run = row.get("victims") + "/" + row.get("round");
            Set<String> said = settledByRun.computeIfAbsent(run, name -> new HashSet<>());
            if (!row.get("settled").equals("-")) {
                // the rank that aborts, and those that leave at once, are not asked
                said.add(row.get("settled"));
            }
            boolean subset = Set.of(row.get("victims").split(" "))
                    .containsAll(Set.of(row.get("culprits").split(" ")));
            wrong += subset ? 0 : 1;
        }
        return String.format(
                Locale.ROOT,
                "%d,%d,%.1f,%.1f,%.0f,%d,%d,%d",
                settledByRun.size(),
                millis.size(),
                millis.get(millis.size() / 2),
                millis.get(millis.size() - 1),
                promised,
                millis.stream().filter(each -> each > promised).count(),
                wrong,
                settledByRun.values().stream().filter(each -> each.size() > 1).count());
    }

    boolean hasMeasured(DrillFault fault, Links medium, Cell.Load load) {
        return rows.stream()
                .anyMatch(each -> each.get("row").equals("" + fault.row())
                        && each.get("fault").equals(fault.toString())
                        && each.get("medium").equals(medium.toString())
                        && load(each) == load);
    }

    /** Returns what no page may promise: times that are none or over what was promised, and wrong or different blame. */
    List<Map<String, String>> broken() {
        return rows.stream()
                .filter(each -> number(each, "worst_ms") <= 0
                        || number(each, "worst_ms") > number(each, "promised_ms")
                        || number(each, "over") > 0
                        || number(each, "named_wrong") > 0
                        || number(each, "disagreed") > 0)
                .toList();
    }

    /**
     * Returns which lines are not of a fault of the drill, or say something else of it than it promises, or nothing of whoever was later,
     * or come of fewer runs than they are to. What is promised depends on whether the ranks of the line had a core each.
     */
    List<String> unlikeTheirFault() {
        return rows.stream()
                .flatMap(row -> unlikeItsFault(row).stream().map(said -> cell(row) + ": " + said))
                .toList();
    }

    private static List<String> unlikeItsFault(Map<String, String> row) {
        DrillFault fault = Stream.of(DrillFault.values())
                .filter(each -> row.get("fault").equals(each.toString())
                        && row.get("row").equals("" + each.row()))
                .findFirst()
                .orElse(null);
        if (fault == null) {
            return List.of("no such fault of this row");
        }
        Cell.Load load = load(row);
        double promised = fault.promisedMillis(load, whole(row, "ranks"), whole(row, "cores"));
        List<String> wrong = new ArrayList<>();
        if (number(row, "promised_ms") != promised) {
            wrong.add("promised_ms is " + row.get("promised_ms") + ", " + promised + " is promised");
        }
        if (number(row, "worst_ms") > promised != number(row, "over") > 0) {
            wrong.add(row.get("over") + " over " + promised + ", the worst " + row.get("worst_ms"));
        }
        if (number(row, "runs") < fault.leastRuns(load)) {
            wrong.add(row.get("runs") + " runs, " + fault.leastRuns(load) + " at least");
        }
        return wrong;
    }

    /** Returns whether a kill in a call was measured where each rank had a core, as {@code true}, or where some shared one. */
    boolean hasMeasuredKills(boolean coreEach) {
        return rows.stream()
                .filter(DrillFigures::dependsOnCores)
                .anyMatch(each -> coreEach == (whole(each, "cores") >= whole(each, "ranks")));
    }

    String table() {
        String head =
                "| row | fault | medium | machine | victim's heap | ranks | cores | runs | survivors' exceptions | median, ms | worst, ms |"
                        + " promised, ms | over | named wrong | disagreed |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
        return head
                + rows.stream()
                        .map(each -> Stream.of(
                                        each.get("row"),
                                        each.get("fault"),
                                        each.get("medium"),
                                        inWords(load(each)),
                                        each.get("heap_mib") + " MiB",
                                        each.get("ranks"),
                                        each.get("cores"),
                                        each.get("runs"),
                                        each.get("samples"),
                                        each.get("median_ms"),
                                        each.get("worst_ms"),
                                        each.get("promised_ms"),
                                        each.get("over"),
                                        each.get("named_wrong"),
                                        each.get("disagreed"))
                                .collect(Collectors.joining(" | ", "| ", " |\n")))
                        .collect(Collectors.joining());
    }

    private static Cell.Load load(Map<String, String> row) {
        return Cell.Load.valueOf(row.get("load").toUpperCase(Locale.ROOT));
    }

    private static String inWords(Cell.Load load) {
        return load == Cell.Load.IDLE ? "idle" : "four busy processes";
    }

    private static boolean dependsOnCores(Map<String, String> row) {
        return Stream.of(DrillFault.values())
                .anyMatch(each -> each.isKillInACall() && each.toString().equals(row.get("fault")));
    }

    private static int whole(Map<String, String> row, String name) {
        return Integer.parseInt(row.get(name));
    }

    private static double number(Map<String, String> row, String name) {
        return Double.parseDouble(row.get(name));
    }
}
