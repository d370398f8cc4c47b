package ferro.examples.textmodel;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** The options of the command line, as {@link #USAGE} lists them: values by names. */
record Options(Map<String, String> given) {
    static final String USAGE = """
        usage: ferro demo [--text PATH] [--steps N] [--seconds N] [--batch N] [--seed N] [--ranks N]

          --text PATH      file or folder of text to learn from (default: this folder)
          --steps N        maximum number of batches (default 1000)
          --seconds N      time for training in seconds, without the checks (default 30)
          --batch N        samples per batch, over all ranks (default 1024)
          --seed N         seed of parameters and batches (default 1)
          --ranks N, -n N  number of processes that train (default 4)
        """;

    private static final Map<String, String> DEFAULTS =
            Map.of("--text", ".", "--steps", "1000", "--seconds", "30", "--batch", "1024", "--seed", "1");

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
        given.keySet().stream().filter(name -> !name.equals("--text")).forEach(options::number);
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

    int number(String name) {
        int least = name.equals("--seed") ? 0 : 1;
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
