package ferro.benchmarks.compare;

import ferro.benchmarks.chart.ChartPanel;
import ferro.benchmarks.chart.ChartPicture;
import ferro.benchmarks.compare.Measurement.SizedCall;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The charts of the pages in docs, which are drawn from committed data:
 *
 * <ul>
 *   <li>docs/images/speed shows two ranks, from docs/performance/targets.csv
 *   <li>docs/images/scale shows messages by number of ranks, from docs/performance/scale.csv
 *   <li>docs/images/demo shows one rank and four ranks, from docs/images/demo.txt
 * </ul>
 */
public final class DocsPictures {
    private static final String COLLECTIVE = "allreduce";
    private static final int RANKS = 2;

    private DocsPictures() {}

    /**
     * Draws all charts.
     *
     * @param words the folder docs of a checkout
     * @throws IOException if a file cannot be read or written
     */
    public static void main(String[] words) throws IOException {
        Path docs = Path.of(words[0]);
        speed(docs.resolve("performance")).write(docs.resolve("images"), "speed");
        MessageChart.of(docs.resolve("performance")).write(docs.resolve("images"), "scale");
        DemoPicture.of(docs.resolve("images/demo.txt")).write(docs.resolve("images"), "demo");
    }

    /** Returns the chart of an all-reduce of two ranks, with a line for each library that was measured. */
    static ChartPicture speed(Path performance) throws IOException {
        Ratios ratios = new Ratios(new ResultsFile(performance.resolve("targets.csv")).read());
        List<SizedCall> items = ratios.items().stream()
                .filter(item -> item.ranks() == RANKS && item.collective().equals(COLLECTIVE))
                .sorted(Comparator.comparingLong(SizedCall::bytes))
                .toList();
        List<ChartPanel> panels = new ArrayList<>();
        for (TransportMedium medium : TransportMedium.values()) {
            panels.addAll(new Chart(ratios, items, medium).panels());
        }
        List<String> notes = new ArrayList<>(MachineDescription.notes(performance));
        notes.add(
                "After an all-reduce, every rank has the sum of the arrays of all ranks. Arrays of 32-bit floats. Gloo has no shared"
                        + " memory.");
        return new ChartPicture("How long an all-reduce of two ranks takes", notes, 2, panels);
    }
}
