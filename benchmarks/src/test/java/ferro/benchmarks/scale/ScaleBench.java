package ferro.benchmarks.scale;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Measures how the costs of a group grow with the number of ranks, and prints a table. Each row runs in a JVM with limits
 * of time and memory. A row that reaches a limit has a figure that says so, and the next row is measured.
 */
final class ScaleBench {
    private static final int OUT_OF_MEMORY = 3;

    private final List<Figure> figures = new ArrayList<>();

    private record Figure(ScaleRow row, int ranks, String name, String value, String unit) {
        String inTable() {
            return "| " + row + " | " + ranks + " | " + name + " | " + value + " | " + unit + " |";
        }

        String json() {
            return String.format(
                    Locale.ROOT,
                    "{\"row\":\"%s\",\"ranks\":%d,\"figure\":\"%s\",\"value\":\"%s\",\"unit\":\"%s\"}",
                    row,
                    ranks,
                    name,
                    value,
                    unit);
        }
    }

    /** Measures the rows that {@code [--ranks N] [--json FILE] [ROW...]} names; without a row, all rows. */
    public static void main(String[] words) throws IOException, InterruptedException {
        List<ScaleRow> rows = new ArrayList<>();
        int ranks = 0;
        Path json = null;
        for (int i = 0; i < words.length; i++) {
            switch (words[i]) {
                case "--ranks" -> ranks = Integer.parseInt(words[++i]);
                case "--json" -> json = Path.of(words[++i]);
                default -> rows.add(ScaleRow.of(words[i]));
            }
        }
        ScaleBench bench = new ScaleBench();
        for (ScaleRow row : rows.isEmpty() ? ScaleRow.all() : rows) {
            for (int ofRow : ranks == 0 ? row.ranks() : List.of(ranks)) {
                bench.measure(row, ofRow);
            }
        }
        System.out.print(bench.table());
        if (json != null) {
            Files.write(json, bench.figures.stream().map(Figure::json).toList());
        }
    }

    void measure(ScaleRow row, int ranks) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(row.command(ranks))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Thread killer = new Thread(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(killer);
        Thread reader = new Thread(() -> read(process, row, ranks));
        reader.start();
        boolean ended = process.waitFor(row.limits().seconds(), TimeUnit.SECONDS);
        if (!ended) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
        Runtime.getRuntime().removeShutdownHook(killer);
        reader.join();
        if (!ended) {
            add(new Figure(row, ranks, "stopped after", "" + row.limits().seconds(), "s"));
        } else if (process.exitValue() == OUT_OF_MEMORY) {
            add(new Figure(
                    row, ranks, "needs a heap of more than", "" + row.limits().heapMebibytes(), "MiB"));
        } else if (process.exitValue() != 0) {
            add(new Figure(row, ranks, "failed with exit code", "" + process.exitValue(), ""));
        }
    }

    private void read(Process process, ScaleRow row, int ranks) {
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                String[] fields = line.split("\t");
                if (fields.length == 4 && fields[0].equals(Meter.MARK)) {
                    add(new Figure(row, ranks, fields[1], fields[2], fields[3]));
                }
            }
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private synchronized void add(Figure figure) {
        System.err.println(figure.inTable());
        figures.add(figure);
    }

    synchronized String table() {
        StringBuilder table = new StringBuilder("| row | ranks | figure | value | unit |\n|---|---|---|---|---|\n");
        figures.forEach(figure -> table.append(figure.inTable()).append('\n'));
        return table.toString();
    }
}
