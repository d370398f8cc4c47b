package ferro.benchmarks;

import ferro.training.BucketSettings;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * The request of {@code ferro bench overlap}. The constructor checks the values.
 *
 * @param computing  effect of computing on the core
 * @param ratios     time of computing divided by the time of communicating alone
 * @param buckets    sizes of buckets in bytes
 * @param layers     number of layers, each with one gradient
 * @param layerBytes size of each gradient in bytes
 * @param rounds     samples of each contestant
 * @param json       whether to print one JSON object per line instead of a table
 */
public record OverlapRequest(
        LayerComputation.CoreUse computing,
        List<Double> ratios,
        List<Long> buckets,
        int layers,
        long layerBytes,
        int rounds,
        boolean json) {
    /** The word that follows {@code ferro bench}. */
    static final String NAME = "overlap";

    /** Smallest number of samples of a time, because the median of fewer samples means little. */
    private static final int LEAST_ROUNDS = 30;

    private static final int MOST_LAYERS = 1000;

    /**
     * Checks the request.
     *
     * @param computing  effect of computing on the core
     * @param ratios     time of computing divided by the time of communicating alone
     * @param buckets    sizes of buckets in bytes
     * @param layers     number of layers, each with one gradient
     * @param layerBytes size of each gradient in bytes
     * @param rounds     samples of each contestant
     * @param json       whether to print JSON
     * @throws IllegalArgumentException if a value is invalid; the message names the value and the allowed values
     */
    public OverlapRequest {
        ratios = List.copyOf(ratios);
        buckets = List.copyOf(buckets);
        if (rounds < LEAST_ROUNDS) {
            throw new IllegalArgumentException("--rounds " + rounds + ": need " + LEAST_ROUNDS + " or more");
        }
        if (layers < 2 || layers > MOST_LAYERS) {
            throw new IllegalArgumentException("--layers " + layers + ": need 2 to " + MOST_LAYERS);
        }
        if (layerBytes < Float.BYTES || layerBytes % Float.BYTES != 0) {
            throw new IllegalArgumentException("--layer-size " + layerBytes + ": need a multiple of " + Float.BYTES
                    + " bytes, the size of one f32");
        }
        for (long bytes : buckets) {
            settings(bytes);
        }
    }

    /**
     * Reads the words after {@code ferro bench overlap}.
     *
     * @param words options, each with its value, and {@code --json}
     * @return the request
     * @throws IllegalArgumentException if a word is invalid; the message names the word
     */
    public static OverlapRequest parse(List<String> words) {
        LayerComputation.CoreUse computing = LayerComputation.CoreUse.IDLE;
        List<Double> ratios = List.of(0.5, 1.0, 2.0);
        List<Long> buckets = List.of(1L << 20, 4L << 20, 16L << 20);
        int layers = 16;
        long layerBytes = 1 << 20;
        int rounds = LEAST_ROUNDS;
        boolean json = false;
        Iterator<String> rest = words.iterator();
        while (rest.hasNext()) {
            String option = rest.next();
            if (option.equals("--json")) {
                json = true;
                continue;
            }
            String value = rest.hasNext() ? rest.next() : "";
            switch (option) {
                case "--computing" -> computing = LayerComputation.CoreUse.parse(value);
                case "--ratios" -> ratios = ratios(value);
                case "--buckets" -> buckets = Sweep.parseSizes(option, value);
                case "--layers" -> layers = whole(option, value);
                case "--layer-size" ->
                    layerBytes = Sweep.parseSizes(option, value).get(0);
                case "--rounds" -> rounds = whole(option, value);
                default ->
                    throw new IllegalArgumentException("no option \"" + option + "\" to bench overlap: use"
                            + " --computing, --ratios, --buckets, --layers, --layer-size, --rounds or --json");
            }
        }
        return new OverlapRequest(computing, ratios, buckets, layers, layerBytes, rounds, json);
    }

    private static List<Double> ratios(String text) {
        List<Double> ratios = new ArrayList<>();
        for (String ratio : text.split(",", -1)) {
            try {
                double value = Double.parseDouble(ratio);
                if (!(value > 0 && value <= 100)) {
                    throw new IllegalArgumentException(
                            "--ratios " + text + ": need numbers above 0, at most 100, found " + ratio);
                }
                ratios.add(value);
            } catch (NumberFormatException unreadable) {
                throw new IllegalArgumentException(
                        "--ratios " + text + ": \"" + ratio + "\" is not a number, need for example 0.5,1,2",
                        unreadable);
            }
        }
        return ratios;
    }

    private static int whole(String option, String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException unreadable) {
            throw new IllegalArgumentException(option + " " + text + ": need a whole number", unreadable);
        }
    }

    /**
     * Checks that a group of this size can run the measurement.
     *
     * @param ranks world size
     * @throws IllegalArgumentException if the group is so small that no data needs to be communicated
     */
    public void checkRanks(int ranks) {
        if (ranks < 2) {
            throw new IllegalArgumentException("overlap needs 2 ranks or more, found " + ranks);
        }
    }

    /** Returns settings for buckets of a size. The first bucket is at most as large as by default. */
    static BucketSettings settings(long bytes) {
        return BucketSettings.DEFAULT.withBytes(Math.min(bytes, BucketSettings.DEFAULT.firstBytes()), bytes);
    }
}
