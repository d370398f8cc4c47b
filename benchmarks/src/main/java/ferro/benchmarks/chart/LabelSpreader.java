package ferro.benchmarks.chart;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/** The positions of the labels at the ends of lines. Labels are as near to the ends as possible, without an overlap. */
final class LabelSpreader {
    private LabelSpreader() {}

    /**
     * Moves labels apart.
     *
     * @param wanted vertical positions of the ends of the lines
     * @param apart smallest distance between two labels
     * @param low smallest allowed vertical position
     * @param high largest allowed vertical position
     * @return vertical positions of the labels, in the order of {@code wanted}
     */
    static double[] spread(double[] wanted, double apart, double low, double high) {
        int[] order = IntStream.range(0, wanted.length)
                .boxed()
                .sorted(Comparator.comparingDouble(each -> wanted[each]))
                .mapToInt(Integer::intValue)
                .toArray();
        double[] heights =
                Arrays.stream(order).mapToDouble(each -> wanted[each]).toArray();
        // a block of labels that touch stands around the mean of its wanted heights
        for (int pass = 0; pass < wanted.length; pass++) {
            for (int from = 0; from < heights.length; ) {
                int to = from + 1;
                while (to < heights.length && heights[to] - heights[to - 1] < apart + 1e-6) {
                    to++;
                }
                double mean = 0;
                for (int each = from; each < to; each++) {
                    mean += wanted[order[each]] / (to - from);
                }
                double half = (to - from - 1) * apart / 2;
                double middle = Math.max(low + half, Math.min(high - half, mean));
                for (int each = from; each < to; each++) {
                    heights[each] = middle - half + (each - from) * apart;
                }
                from = to;
            }
        }
        double[] moved = new double[wanted.length];
        for (int each = 0; each < order.length; each++) {
            moved[order[each]] = heights[each];
        }
        return moved;
    }
}
