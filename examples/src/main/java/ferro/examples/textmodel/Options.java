package ferro.examples.textmodel;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The options of the command line.
 *
 * @param text     file or folder to learn from
 * @param steps    largest number of batches
 * @param seconds  time for training in seconds, by the clock of rank 0
 * @param batch    samples per step, over all ranks
 * @param seed     seed of the parameters, the batches and the sample
 * @param out      file of the plot
 * @param sample   characters to generate at the end
 * @param bar      true for one line of progress that is redrawn, false for a line every few seconds
 * @param state    options for the start of the training and for its state
 */
record Options(
        Path text,
        int steps,
        int seconds,
        int batch,
        long seed,
        Path out,
        int sample,
        boolean bar,
        StateOptions state) {
    static final String USAGE = """
            usage: ferro demo [--text PATH] [--steps N] [--seconds N] [--batch N] [--seed N] [--out FILE.png]
                              [--sample N] [--progress bar|lines] [--ranks N] [--shard] [--save DIR] [--resume DIR]

              --text PATH      file or folder of text to learn from (default: this folder)
              --steps N        maximum number of batches, including those before a checkpoint (default 1000)
              --seconds N      time for training in seconds, without the checks (default 30)
              --batch N        samples per batch, over all ranks (default 1024)
              --seed N         seed of parameters, batches and the sample (default 1)
              --out FILE.png   plot of loss and throughput over time (default ferro-demo.png)
              --sample N       characters to generate at the end (default 400)
              --progress KIND  bar: one line that is redrawn; lines: a line every few seconds (default)
              --ranks N, -n N  number of processes that train (default 4)
              --shard          each rank keeps only its part of the optimizer's state
              --save DIR       write a checkpoint to DIR at the end, or when SIGTERM ends the job
              --resume DIR     resume from the latest checkpoint in DIR, on any number of ranks
            """;

    private static final List<String> NAMES = List.of(
            "--text",
            "--steps",
            "--seconds",
            "--batch",
            "--seed",
            "--out",
            "--sample",
            "--progress",
            StateOptions.SHARD,
            StateOptions.SAVE,
            StateOptions.RESUME);

    /**
     * Reads a command line. Accepts both {@code --name value} and {@code --name=value}.
     *
     * @param arguments arguments of {@code main}
     * @return options
     * @throws UsageException if an option is unknown or its value is invalid; the message names the option and the
     *     value
     */
    static Options parse(String... arguments) {
        Map<String, String> given = pairs(arguments);
        return new Options(
                Path.of(given.getOrDefault("--text", ".")),
                integer(given, "--steps", 1000, 1),
                integer(given, "--seconds", 30, 1),
                integer(given, "--batch", 1024, 1),
                seed(given.getOrDefault("--seed", "1")),
                plotFile(given.getOrDefault("--out", "ferro-demo.png")),
                integer(given, "--sample", 400, 0),
                bar(given.getOrDefault("--progress", "lines")),
                StateOptions.of(given));
    }

    private static Map<String, String> pairs(String... arguments) {
        Map<String, String> given = new HashMap<>();
        for (int i = 0; i < arguments.length; i++) {
            int equals = arguments[i].indexOf('=');
            String name = equals < 0 ? arguments[i] : arguments[i].substring(0, equals);
            if (!NAMES.contains(name)) {
                throw new UsageException("unknown option " + arguments[i] + ": use " + String.join(" ", NAMES)
                        + "; ferro demo also takes --ranks");
            }
            if (arguments[i].equals(StateOptions.SHARD)) {
                given.put(name, "true");
                continue;
            }
            if (equals < 0 && i + 1 == arguments.length) {
                throw new UsageException(name + " needs a value, found none: see --help");
            }
            given.put(name, equals < 0 ? arguments[++i] : arguments[i].substring(equals + 1));
        }
        return given;
    }

    private static int integer(Map<String, String> given, String name, int fallback, int least) {
        String text = given.getOrDefault(name, Integer.toString(fallback));
        String need = name + " " + text + ": need an integer from " + least + " to " + Integer.MAX_VALUE;
        try {
            int value = Integer.parseInt(text);
            if (value < least) {
                throw new UsageException(need);
            }
            return value;
        } catch (NumberFormatException unreadable) {
            throw new UsageException(need, unreadable);
        }
    }

    private static long seed(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException unreadable) {
            throw new UsageException("--seed " + text + ": need an integer", unreadable);
        }
    }

    /** Returns the file of the plot. Checks before the training that the plot can be written. */
    private static Path plotFile(String text) {
        Path folder = Path.of(text).toAbsolutePath().getParent();
        if (!text.endsWith(".png") || folder == null || Files.isDirectory(Path.of(text))) {
            throw new UsageException("--out " + text + ": need the name of a file that ends in .png, not a folder");
        }
        if (!Files.isWritable(folder)) {
            throw new UsageException(
                    "--out " + text + ": cannot write to the folder " + folder + ", choose another folder");
        }
        return Path.of(text);
    }

    private static boolean bar(String text) {
        if (!text.equals("bar") && !text.equals("lines")) {
            throw new UsageException("--progress " + text + ": need bar or lines");
        }
        return text.equals("bar");
    }
}
