package ferro.spark.rendezvous;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A report of the progress of one rank.
 *
 * @param rank   the rank that reports
 * @param step   the number of the step
 * @param values the reported values as text, such as {@code loss=0.250000}
 */
public record ProgressReport(int rank, long step, String values) {
    static ProgressReport of(int rank, long step, Map<String, Double> values) {
        return new ProgressReport(
                rank,
                step,
                new TreeMap<>(values)
                        .entrySet().stream()
                                .map(one -> one.getKey() + "=" + String.format(Locale.ROOT, "%.6g", one.getValue()))
                                .collect(Collectors.joining(" ")));
    }

    /** Returns the report as one log line, such as {@code rank 0 step 12 loss=0.250000}. */
    public String line() {
        return "rank " + rank + " step " + step + " " + values;
    }

    byte[] encoded() {
        return (rank + " " + step + " " + values).getBytes(StandardCharsets.UTF_8);
    }

    static ProgressReport decoded(byte[] bytes) {
        String[] parts = new String(bytes, StandardCharsets.UTF_8).split(" ", 3);
        return new ProgressReport(Integer.parseInt(parts[0]), Long.parseLong(parts[1]), parts[2]);
    }
}
