package ferro.examples.textmodel;

import ferro.spi.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** The options of the command line, as {@link #USAGE} lists them: values by names. */
record Options(Map<String, String> given) {
    static final String USAGE = """
        usage: ferro demo [--text PATH] [--steps N] [--seconds N] [--batch N] [--seed N] [--ranks N]
                          [--checkpoints PATH] [--restarts N] [--chaos TIME]

          --text PATH      file or folder of text to learn from (default: this folder)
          --steps N        maximum number of batches (default 1000)
          --seconds N      time for training in seconds, without the checks (default 30)
          --batch N        samples per batch, over all ranks (default 1024)
          --seed N         seed of parameters, batches and kills (default 1)
          --ranks N, -n N  number of processes that train (default 4)
          --checkpoints PATH
                           folder of checkpoints: the training continues from the latest one (default: none)
          --restarts N     number of times that the job may be started again (default 0)
          --chaos TIME     kill a random rank this long after each start that has a restart left, such as 10s, but not
                           before the start has saved a checkpoint (default: no kills)
        """;

    private static final Map<String, String> DEFAULTS = Map.of(
            "--text", ".",
            "--steps", "1000",
            "--seconds", "30",
            "--batch", "1024",
            "--seed", "1",
            "--checkpoints", "",
            "--restarts", "0",
            "--chaos", "");
    /** Options whose value is no number. */
    private static final Set<String> TEXTS = Set.of("--text", "--checkpoints", "--chaos");
    /** Options whose number may be 0. */
    private static final Set<String> FROM_ZERO = Set.of("--seed", "--restarts");

    private static final String NAMES = String.join(" ", new TreeMap<>(DEFAULTS).keySet());

    /** Reads {@code --name value} and {@code --name=value}. An exception names the option and the value that is wrong. */
    static Options parse(String... arguments) {
        Map<String, String> given = new TreeMap<>(DEFAULTS);
        for (int i = 0; i < arguments.length; i++) {
            String[] parts = arguments[i].split("=", 2);
            require(
                    DEFAULTS.containsKey(parts[0]),
                    "unknown option " + arguments[i] + ": use " + NAMES + "; ferro demo also takes --ranks");
            require(
                    parts.length == 2 || i + 1 < arguments.length,
                    parts[0] + " needs a value, found none: see ferro demo --help");
            given.put(parts[0], parts.length == 2 ? parts[1] : arguments[++i]);
        }
        Options options = new Options(given);
        given.keySet().stream().filter(name -> !TEXTS.contains(name)).forEach(options::number);
        boolean chaos = !options.chaos().after().isZero();
        require(
                !chaos || options.number("--restarts") > 0,
                "--chaos " + given.get("--chaos") + " without --restarts: the job would end at the first kill");
        require(
                !chaos || options.checkpoints().isPresent(),
                "--chaos " + given.get("--chaos") + " without --checkpoints: each restart would begin at step 0");
        return options;
    }

    static void require(boolean right, String message) {
        if (!right) {
            throw new IllegalArgumentException(message);
        }
    }

    Path text() {
        return Path.of(given.get("--text"));
    }

    /** Returns the folder of checkpoints; empty if the training saves none. */
    Optional<Path> checkpoints() {
        return given.get("--checkpoints").isEmpty()
                ? Optional.empty()
                : Optional.of(Path.of(given.get("--checkpoints")));
    }

    KillSchedule chaos() {
        return new KillSchedule(time("--chaos"), number("--restarts"), number("--seed"));
    }

    /** Returns a time; zero for empty text. */
    private Duration time(String name) {
        String text = given.get(name);
        try {
            return text.isEmpty() ? Duration.ZERO : Setting.duration(text);
        } catch (IllegalArgumentException unreadable) {
            throw new IllegalArgumentException(name + " " + text + ": need a time such as 10s or 500ms", unreadable);
        }
    }

    int number(String name) {
        int least = FROM_ZERO.contains(name) ? 0 : 1;
        String need = name + " " + given.get(name) + ": need an integer from " + least + " to " + Integer.MAX_VALUE;
        try {
            int value = Integer.parseInt(given.get(name));
            require(value >= least, need);
            return value;
        } catch (NumberFormatException unreadable) {
            throw new IllegalArgumentException(need, unreadable);
        }
    }
}
