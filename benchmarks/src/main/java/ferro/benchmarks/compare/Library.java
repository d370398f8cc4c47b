package ferro.benchmarks.compare;

import ferro.benchmarks.chart.ChartPanel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A library with one line in a chart.
 *
 * @param contestant contestant whose times are drawn
 * @param color name of the library's colour
 * @param label name of the library in charts
 */
record Library(String contestant, String color, String label) {
    /**
     * The known libraries, in the order in which charts prefer them. A contestant belongs to the library whose name it
     * begins with.
     */
    private static final List<Library> KNOWN = List.of(
            new Library("ferro", "ferro", "ferro"),
            new Library("openmpi", "openmpi", "Open MPI"),
            new Library("mpich", "mpich", "MPICH"),
            new Library("gloo", "gloo", "Gloo"),
            new Library("nccl", "nccl", "NCCL"),
            new Library("torch", "nccl", "torch"));

    private static final int SIMULATED = 9;

    boolean ours() {
        return TransportMedium.ours(contestant);
    }

    /** Returns at most five libraries. Each library has the contestant that its users get without settings. */
    static List<Library> drawn(List<String> contestants) {
        List<Library> drawn = new ArrayList<>();
        for (Library library : KNOWN) {
            Optional<String> plainest = contestants.stream()
                    .filter(name -> name.startsWith(library.contestant))
                    // a variant has a longer name; of two JDKs the newer one
                    .min(Comparator.comparingInt(Library::variants).thenComparing(Comparator.reverseOrder()));
            if (plainest.isPresent() && drawn.size() < ChartPanel.MAX_LINES) {
                drawn.add(new Library(plainest.get(), library.color, library.label));
            }
        }
        return drawn;
    }

    private static int variants(String contestant) {
        // threads of one JVM are no processes beside the processes of other libraries
        return contestant.split("-").length + (contestant.contains("simulated") ? SIMULATED : 0);
    }
}
