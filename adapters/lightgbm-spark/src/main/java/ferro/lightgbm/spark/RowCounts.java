package ferro.lightgbm.spark;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The numbers of rows of one rank, and the number of features of its rows.
 *
 * @param training   number of rows that train
 * @param validation number of rows that validate
 * @param features   number of features of a row; 0 without rows
 */
record RowCounts(int training, int validation, int features) {
    /**
     * What makes a training impossible.
     *
     * @param rank    rank that throws the exception, because the driver names the rank that throws
     * @param message text of the exception
     */
    record RowProblem(int rank, String message) {}

    /**
     * Checks that each rank has rows, and that the rows of all ranks have the same number of features. LightGBM refuses
     * a data set without rows. If the ranks have different numbers of features, LightGBM ends the process by SIGSEGV.
     *
     * @param ranks      numbers of all ranks
     * @param validation name of the column of validation rows; null if no rank needs them
     * @return what is wrong, the same on all ranks; empty if the training can start
     */
    static Optional<RowProblem> refusal(List<RowCounts> ranks, String validation) {
        Optional<RowProblem> noRows = blaming(
                ranksWithout(RowCounts::training, ranks),
                "the partition has no rows for training, but LightGBM needs a row on each rank: use fewer ranks"
                        + " (FerroSpark.ranks), or repartition the Dataset");
        if (noRows.isPresent()) {
            return noRows;
        }
        Optional<RowProblem> noValidation = validation == null
                ? Optional.empty()
                : blaming(
                        ranksWithout(RowCounts::validation, ranks),
                        "the partition has no row whose column " + validation
                                + " is true, but early stopping needs a validation row on each rank: repartition the"
                                + " Dataset");
        return noValidation.isPresent() ? noValidation : otherFeatures(ranks);
    }

    private static List<Integer> ranksWithout(ToIntFunction<RowCounts> rows, List<RowCounts> ranks) {
        return IntStream.range(0, ranks.size())
                .filter(rank -> rows.applyAsInt(ranks.get(rank)) == 0)
                .boxed()
                .toList();
    }

    private static Optional<RowProblem> blaming(List<Integer> atFault, String message) {
        if (atFault.isEmpty()) {
            return Optional.empty();
        }
        String all = atFault.size() == 1 ? "" : " (ranks at fault: " + atFault + ")";
        return Optional.of(new RowProblem(atFault.get(0), message + all));
    }

    /** Finds ranks at fault only if most ranks have the same number of features. */
    private static Optional<RowProblem> otherFeatures(List<RowCounts> ranks) {
        Map<Integer, List<Integer>> ranksByFeatures = IntStream.range(0, ranks.size())
                .boxed()
                .collect(Collectors.groupingBy(rank -> ranks.get(rank).features, TreeMap::new, Collectors.toList()));
        if (ranksByFeatures.size() == 1) {
            return Optional.empty();
        }
        for (Map.Entry<Integer, List<Integer>> each : ranksByFeatures.entrySet()) {
            if (each.getValue().size() > ranks.size() / 2) {
                int expected = each.getKey();
                List<Integer> others = IntStream.range(0, ranks.size())
                        .filter(rank -> ranks.get(rank).features != expected)
                        .boxed()
                        .toList();
                int found = ranks.get(others.get(0)).features;
                return blaming(
                        others, "the rows have " + found + " features, but those of most ranks have " + expected);
            }
        }
        String numbers = ranksByFeatures.entrySet().stream()
                .map(each -> each.getKey() + " on ranks " + each.getValue())
                .collect(Collectors.joining(", "));
        return Optional.of(new RowProblem(0, "the numbers of features differ: " + numbers));
    }
}
