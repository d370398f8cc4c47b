package ferro.examples.textmodel;

import ferro.examples.textmodel.Trainer.TrainingStep;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The losses of all generations of a training, as lines of a file beside the checkpoints. Only rank 0 uses it. A line that a
 * killed rank has not completed is ignored.
 */
final class LossHistory {
    private static final int COLUMNS = 72;
    private static final int ROWS = 10;
    private static final int FIELDS = 4;

    private final Path file;
    private final int generation;

    /** A step of a generation: its number, its time since 1970, and its loss. */
    record LossPoint(int generation, int step, long millis, double loss) {
        private String line() {
            return generation + "," + step + "," + millis + "," + loss;
        }
    }

    LossHistory(Path folder, int generation) {
        file = folder.resolve("losses.csv");
        this.generation = generation;
    }

    /** Removes the losses of an earlier job. The first generation calls it. */
    void clear() {
        try {
            Files.deleteIfExists(file);
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot delete " + file, failure);
        }
    }

    /** Appends the loss of a step. */
    void add(TrainingStep step, long millis) {
        String line = new LossPoint(generation, step.number(), millis, step.loss()).line() + "\n";
        try {
            Files.writeString(
                    file, line, StandardCharsets.US_ASCII, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot write " + file, failure);
        }
    }

    List<LossPoint> points() {
        List<LossPoint> points = new ArrayList<>();
        if (Files.notExists(file)) {
            return points;
        }
        try {
            for (String line : Files.readAllLines(file, StandardCharsets.US_ASCII)) {
                String[] fields = line.split(",");
                if (fields.length == FIELDS) {
                    points.add(new LossPoint(
                            Integer.parseInt(fields[0]),
                            Integer.parseInt(fields[1]),
                            Long.parseLong(fields[2]),
                            Double.parseDouble(fields[3])));
                }
            }
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot read " + file, failure);
        }
        return points;
    }

    /**
     * Draws the losses over the time, in characters. Below the losses, {@code x} marks the last step before a kill, and
     * {@code o} the first step after a restart.
     */
    static List<String> plot(List<LossPoint> points) {
        long begin = points.get(0).millis();
        long length = Math.max(1, points.get(points.size() - 1).millis() - begin);
        double max = points.stream().mapToDouble(LossPoint::loss).max().orElseThrow();
        double min = points.stream().mapToDouble(LossPoint::loss).min().orElseThrow();
        char[][] cells = new char[ROWS + 1][COLUMNS];
        for (char[] row : cells) {
            Arrays.fill(row, ' ');
        }
        for (int i = 0; i < points.size(); i++) {
            LossPoint point = points.get(i);
            int column = (int) ((point.millis() - begin) * (COLUMNS - 1) / length);
            int row = max == min ? 0 : (int) Math.round((max - point.loss()) * (ROWS - 1) / (max - min));
            cells[row][column] = '*';
            boolean isLast = i + 1 < points.size() && points.get(i + 1).generation() > point.generation();
            boolean isFirst = i > 0 && points.get(i - 1).generation() < point.generation();
            if (isLast || isFirst) {
                cells[ROWS][column] = isLast ? 'x' : 'o';
            }
        }
        List<String> lines = new ArrayList<>();
        for (int row = 0; row <= ROWS; row++) {
            String label = row == 0
                    ? String.format(Locale.ROOT, "%6.3f", max)
                    : row == ROWS - 1 ? String.format(Locale.ROOT, "%6.3f", min) : "      ";
            lines.add(label + " |" + new String(cells[row]).stripTrailing());
        }
        lines.add(String.format(
                Locale.ROOT, "loss over %.1f s; x: a rank is killed, o: the job continues", length / 1e3));
        return lines;
    }
}
