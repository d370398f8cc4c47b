package ferro.benchmarks;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * The measured times for one size of buckets, in milliseconds. Each time is the median of the times of the slowest
 * rank.
 *
 * @param bucketBytes       size of a bucket in bytes
 * @param computing         time of computing without communication
 * @param communicating     time of the same buckets without computing
 * @param untilFirst        time of computing until the first bucket is ready to be sent
 * @param lastBucket        time of the last bucket without computing
 * @param step              time of computing with buckets that are sent as soon as they are ready
 * @param flat              time of computing, followed by one all-reduce of all gradients
 * @param communicationCpu  additional processor time of all ranks in a step, compared with computing alone
 */
record OverlapRow(
        long bucketBytes,
        double computing,
        double communicating,
        double untilFirst,
        double lastBucket,
        double step,
        double flat,
        double communicationCpu) {

    /**
     * Returns the shortest possible step. The last bucket waits for all computing, and all buckets wait for the first
     * bucket.
     */
    double bound() {
        return Math.max(computing + lastBucket, untilFirst + communicating);
    }

    /** Returns the hidden communication of a step, as a share of the time of communication without computing. */
    double hidden() {
        return (computing + communicating - step) / communicating;
    }

    /** Returns the row with the shortest step. If several rows have equally short steps, returns the first of them. */
    static OverlapRow fastest(List<OverlapRow> rows) {
        return Collections.min(rows, Comparator.comparingDouble(OverlapRow::step));
    }

    static String head() {
        return String.format(
                Locale.ROOT,
                "# %5s %9s %8s %8s %8s %8s %8s %8s %6s %8s %6s %7s %8s%n# %5s %9s %8s %8s %8s %8s %8s %8s %6s %8s %6s %7s %8s",
                "C/N",
                "bucket",
                "C",
                "N",
                "c1",
                "n_last",
                "bound",
                "step",
                "by",
                "flat",
                "by",
                "hidden",
                "cpu",
                "",
                "(B)",
                "(ms)",
                "(ms)",
                "(ms)",
                "(ms)",
                "(ms)",
                "(ms)",
                "bound",
                "(ms)",
                "flat",
                "(%)",
                "(ms)");
    }

    /** Returns lines that describe the columns. */
    static List<String> legend() {
        return List.of(
                "# C, N: computing alone, communicating alone; c1: computing until the first bucket is ready; n_last: the last"
                        + " bucket alone",
                "# bound: the shortest step that is possible; step: computing with buckets that leave as they become ready;"
                        + " by bound, by flat: step divided by that (lower is better)",
                "# flat: computing, then one all-reduce; hidden: share of N that the step does not show (higher is better)",
                "# cpu: processor time of all ranks that a step takes more than computing alone");
    }

    String table() {
        return String.format(
                Locale.ROOT,
                "  %5.2f %9d %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %6.3f %8.2f %6.3f %7.1f %8.2f",
                computing / communicating,
                bucketBytes,
                computing,
                communicating,
                untilFirst,
                lastBucket,
                bound(),
                step,
                step / bound(),
                flat,
                step / flat,
                100 * hidden(),
                communicationCpu);
    }

    String json(RowConditions around) {
        return String.format(
                Locale.ROOT,
                "{\"bench\":\"overlap\",\"ranks\":%d,\"medium\":\"%s\",\"computing\":\"%s\",\"ratio\":%.3f,\"bucket_bytes\":%d,"
                        + "\"computing_ms\":%.3f,\"communicating_ms\":%.3f,\"until_first_ms\":%.3f,\"last_bucket_ms\":%.3f,"
                        + "\"bound_ms\":%.3f,\"step_ms\":%.3f,\"flat_ms\":%.3f,\"communication_cpu_ms\":%.3f,"
                        + "\"probe_us\":%s,\"probe_after_us\":%s,\"best_bucket_bytes\":%d}",
                around.ranks(),
                around.medium(),
                around.computing(),
                computing / communicating,
                bucketBytes,
                computing,
                communicating,
                untilFirst,
                lastBucket,
                bound(),
                step,
                flat,
                communicationCpu,
                number(around.probeMicros()),
                number(around.probeAfterMicros()),
                around.bestBucketBytes());
    }

    private static String number(double value) {
        return Double.isNaN(value) ? "null" : String.format(Locale.ROOT, "%.3f", value);
    }

    /**
     * The values that all rows of a ratio have in common.
     *
     * @param ranks            world size
     * @param medium           medium that carries the data
     * @param computing        effect of computing on the core
     * @param probeMicros      half a round trip of the wire probe before the measurement
     * @param probeAfterMicros half a round trip of the wire probe after the measurement
     * @param bestBucketBytes  size in bytes of the buckets with the shortest step
     */
    record RowConditions(
            int ranks,
            String medium,
            String computing,
            double probeMicros,
            double probeAfterMicros,
            long bestBucketBytes) {
        private static final double AGREEING = 1.25;

        /** Returns whether the wire probe gave similar results before and after the measurement. */
        boolean probesAgree() {
            return !(Math.max(probeMicros, probeAfterMicros) > AGREEING * Math.min(probeMicros, probeAfterMicros));
        }
    }
}
