package ferro.benchmarks;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The options that only {@code ferro bench overlap} has. */
final class OverlapOptions {
    @Option(
            names = "--computing",
            paramLabel = "KIND",
            description = "overlap: idle (default) if computing leaves the core free, as with an accelerator, or busy")
    private String computing;

    @Option(
            names = "--ratios",
            paramLabel = "LIST",
            description = "overlap: ratios of computing time to the time of communication alone (default: 0.5,1,2)")
    private String ratios;

    @Option(
            names = "--buckets",
            paramLabel = "LIST",
            description = "overlap: sizes of buckets to try (default: 1MiB,4MiB,16MiB)")
    private String buckets;

    @Option(names = "--layers", paramLabel = "COUNT", description = "overlap: number of gradients (default: 16)")
    private String layers;

    @Option(
            names = "--layer-size",
            paramLabel = "SIZE",
            description = "overlap: bytes of each gradient (default: 1MiB)")
    private String layerSize;

    @Option(names = "--rounds", paramLabel = "COUNT", description = "overlap: samples of each time (default: 30)")
    private String rounds;

    static List<String> names() {
        return List.of("--computing", "--ratios", "--buckets", "--layers", "--layer-size", "--rounds");
    }

    /** Returns the given options and their values, in the form that {@link OverlapRequest#parse} reads. */
    List<String> words() {
        List<String> words = new ArrayList<>();
        BenchTool.add(words, "--computing", computing);
        BenchTool.add(words, "--ratios", ratios);
        BenchTool.add(words, "--buckets", buckets);
        BenchTool.add(words, "--layers", layers);
        BenchTool.add(words, "--layer-size", layerSize);
        BenchTool.add(words, "--rounds", rounds);
        return words;
    }

    /**
     * Throws an exception if an option of overlap was given. {@code asked} names the measurement that was requested
     * instead.
     */
    void refuseFor(String asked) {
        if (!words().isEmpty()) {
            throw new IllegalArgumentException(
                    String.join(" ", words()) + " with " + asked + ": only ferro bench overlap takes these options");
        }
    }
}
