package ferro.benchmarks;

import ferro.DataType;
import java.util.List;

/**
 * The request of {@code ferro bench --predict}; checked when it is made.
 *
 * @param collectives collectives to predict and to measure; each has a plan
 * @param sizes       in bytes, in the order of the table
 */
public record Prediction(List<Measured> collectives, List<Long> sizes) {
    private static final String EVERY = "all";
    private static final List<Measured> WITH_PLANS = List.of(
            Measured.ALLREDUCE,
            Measured.BROADCAST,
            Measured.REDUCE,
            Measured.ALLGATHER,
            Measured.REDUCESCATTER,
            Measured.GATHER,
            Measured.SCATTER,
            Measured.ALLTOALL);
    private static final String DEFAULT_SIZES = "64KiB,256KiB,1MiB,4MiB,16MiB,64MiB";
    /** The probe sends half of a size, at least one element. */
    private static final long LEAST_BYTES = 2 * Float.BYTES;

    /**
     * Checks the request.
     *
     * @param collectives collectives to predict
     * @param sizes       in bytes
     * @throws IllegalArgumentException naming the size that cannot be measured or is too small for the probe
     */
    public Prediction {
        collectives = List.copyOf(collectives);
        sizes = List.copyOf(sizes);
        for (long size : sizes) {
            if (size < LEAST_BYTES) {
                throw new IllegalArgumentException(
                        "--sizes " + size + ": --predict needs " + LEAST_BYTES + " bytes or more");
            }
            Sweep.checkSize(size, DataType.FLOAT32);
        }
    }

    /**
     * Reads the words after {@code ferro bench --predict}.
     *
     * @param words a collective or {@code all}, then nothing or {@code --sizes LIST}
     * @return the request
     * @throws IllegalArgumentException naming the invalid word
     */
    public static Prediction parse(List<String> words) {
        String first = words.isEmpty() ? "" : words.get(0);
        List<Measured> collectives = first.equals(EVERY) ? WITH_PLANS : List.of(Measured.parse(first));
        if (!WITH_PLANS.containsAll(collectives)) {
            throw new IllegalArgumentException(first + " has no plan that --predict can simulate: use one of "
                    + String.join(" ", WITH_PLANS.stream().map(Measured::label).toList()) + " " + EVERY);
        }
        if (words.size() != 1 && !(words.size() == 3 && words.get(1).equals("--sizes"))) {
            throw new IllegalArgumentException("--predict measures sums of f32 and takes only --sizes, found "
                    + String.join(" ", words.subList(1, words.size())));
        }
        return new Prediction(
                collectives, Sweep.parseSizes("--sizes", words.size() == 1 ? DEFAULT_SIZES : words.get(2)));
    }

    /**
     * Checks that a world of this size can do it.
     *
     * @param ranks world size
     * @throws IllegalArgumentException if there is no link to measure
     */
    public void checkRanks(int ranks) {
        if (ranks < 2) {
            throw new IllegalArgumentException("--predict needs 2 ranks or more, found " + ranks);
        }
    }
}
