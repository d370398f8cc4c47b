package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Computes the mean and quantiles of column 2 of all CSV files in a folder. Each rank reads its share of the files. */
final class CsvQuantiles {
    private static final double[] PARTS = {0.5, 0.9, 0.99};

    public static void main(String[] arguments) throws IOException {
        try (ProcessGroup group = ProcessGroup.join()) {
            double[] own = numbers(ownFiles(Path.of(arguments[0]), group));
            double[] totals = {own.length, Arrays.stream(own).sum()};
            group.allReduce(totals, ReduceOp.SUM);
            double[] quantiles = quantiles(group, own, totals[0]);
            if (group.rank() == 0) {
                System.out.printf("%.0f numbers, mean %.3f%n", totals[0], totals[1] / totals[0]);
                for (int i = 0; i < PARTS.length; i++) {
                    System.out.printf("%.0f %% are at most %.3f%n", 100 * PARTS[i], quantiles[i]);
                }
            }
        }
    }

    /** Returns every file whose position in the sorted list belongs to this rank. */
    private static List<Path> ownFiles(Path folder, ProcessGroup group) throws IOException {
        try (Stream<Path> found = Files.list(folder)) {
            List<Path> files = found.sorted().toList(); // the same order on every rank
            return IntStream.range(0, files.size())
                    .filter(i -> i % group.worldSize() == group.rank())
                    .mapToObj(files::get)
                    .toList();
        }
    }

    private static double[] numbers(List<Path> files) {
        return files.stream()
                .flatMap(CsvQuantiles::lines)
                .mapToDouble(line -> Double.parseDouble(line.split(",")[1]))
                .sorted()
                .toArray();
    }

    private static Stream<String> lines(Path file) {
        try {
            return Files.readAllLines(file).stream().skip(1); // the first line has the names of the columns
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Narrows a range around each quantile. The ranks exchange counts, not numbers. */
    private static double[] quantiles(ProcessGroup group, double[] own, double total) {
        double[] ends = {Double.NEGATIVE_INFINITY, Double.NEGATIVE_INFINITY};
        if (own.length > 0) {
            ends = new double[] {-own[0], own[own.length - 1]};
        }
        group.allReduce(ends, ReduceOp.MAX); // minus the smallest number, and the largest number
        double[] low = filled(-ends[0]);
        double[] high = filled(ends[1]);
        for (int step = 0; step < 60; step++) {
            double[] middle = new double[PARTS.length];
            long[] counts = new long[PARTS.length];
            for (int i = 0; i < PARTS.length; i++) {
                middle[i] = (low[i] + high[i]) / 2;
                counts[i] = countUpTo(middle[i], own);
            }
            group.allReduce(counts, ReduceOp.SUM);
            for (int i = 0; i < PARTS.length; i++) {
                if (counts[i] < PARTS[i] * total) {
                    low[i] = middle[i];
                } else {
                    high[i] = middle[i];
                }
            }
        }
        return high;
    }

    private static double[] filled(double value) {
        double[] values = new double[PARTS.length];
        Arrays.fill(values, value);
        return values;
    }

    /** Returns how many of the sorted numbers are at most this limit. */
    private static long countUpTo(double limit, double[] sorted) {
        int position = Arrays.binarySearch(sorted, limit);
        int end = position < 0 ? -position - 1 : position;
        while (end < sorted.length && sorted[end] <= limit) {
            end++;
        }
        return end;
    }
}
