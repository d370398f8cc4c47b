package ferro.training;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.training.agreement.TextComparer;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Averages of loss and metrics over the samples of all ranks. Each rank adds its batches. One call returns the averages
 * over all ranks.
 *
 * <p>One thread at a time may use an {@code Averages} object. {@link #over}, {@link #exchange} and
 * {@link #takePartWithoutData} are collectives of the group. {@link #add} does not communicate.
 */
public final class Averages {
    private final ProcessGroup group;
    private final List<String> names;
    private final double[] sums;
    private long count;

    /**
     * Averages over samples.
     *
     * @param count number of samples
     * @param values average by name, in the order of the names; NaN without samples
     */
    public record WeightedMeans(long count, Map<String, Double> values) {
        /**
         * Copies the averages.
         *
         * @param count  number of samples
         * @param values average by name
         */
        public WeightedMeans {
            values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
        }
    }

    private Averages(ProcessGroup group, List<String> names) {
        this.group = group;
        this.names = names;
        this.sums = new double[names.size()];
    }

    /**
     * Creates averages without samples, and checks that all ranks give the same names.
     *
     * @param group ranks that add samples
     * @param names names of the averages, such as {@code loss}; every rank gives the same names in the same order
     * @return averages
     * @throws IllegalArgumentException if {@code names} is empty, or if a name occurs twice. If ranks give different
     *     names, all ranks throw this exception, and the group stays usable
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException if the group fails or has failed
     */
    public static Averages over(ProcessGroup group, String... names) {
        Objects.requireNonNull(group, "group");
        List<String> list = List.of(Objects.requireNonNull(names, "names"));
        if (list.isEmpty() || new HashSet<>(list).size() < list.size()) {
            throw new IllegalArgumentException("need at least one name of an average and no name twice, found " + list);
        }
        TextComparer.requireEqual(group, "names of averages", list.toString());
        return new Averages(group, list);
    }

    /**
     * Adds a batch of this rank, without communication.
     *
     * @param samples number of samples; if the number is 0, the values are ignored
     * @param means average of each name over the samples of the batch, in the order of the names
     * @throws IllegalArgumentException if the number of samples is negative, or if {@code means} does not have one
     *     average per name
     */
    public void add(long samples, double... means) {
        if (samples < 0 || Objects.requireNonNull(means, "means").length != sums.length) {
            throw new IllegalArgumentException("need 0 or more samples and one value for each of " + names + ", found "
                    + samples + " samples and " + means.length + " values");
        }
        if (samples > 0) {
            count += samples;
            for (int i = 0; i < sums.length; i++) {
                sums[i] += samples * means[i];
            }
        }
    }

    /**
     * Returns the averages over the samples that all ranks have added, and starts again without samples.
     *
     * @return averages weighted by samples, with the same bits on all ranks
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException if the group fails or has failed
     */
    public WeightedMeans exchange() {
        double[] all = new double[sums.length + 1];
        System.arraycopy(sums, 0, all, 1, sums.length);
        all[0] = count;
        group.allReduce(all, ReduceOp.SUM);
        count = 0;
        Arrays.fill(sums, 0);
        Map<String, Double> values = new LinkedHashMap<>();
        for (int i = 0; i < sums.length; i++) {
            values.put(names.get(i), all[i + 1] / all[0]);
        }
        return new WeightedMeans((long) all[0], values);
    }

    /**
     * Takes part in one {@link #exchange} of the other ranks. The exchange counts samples that this rank has added
     * since its last exchange.
     *
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException if the group fails or has failed
     */
    public void takePartWithoutData() {
        exchange();
    }
}
