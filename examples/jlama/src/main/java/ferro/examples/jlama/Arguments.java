package ferro.examples.jlama;

import java.util.Map;
import java.util.TreeMap;

/** The options of a command line: values by names. */
record Arguments(Map<String, String> values) {
    /**
     * Reads {@code --name value} and {@code --name=value}.
     *
     * @throws IllegalArgumentException if an option is not among the defaults, or has no value
     */
    static Arguments parse(Map<String, String> defaults, String... arguments) {
        Map<String, String> values = new TreeMap<>(defaults);
        for (int at = 0; at < arguments.length; at++) {
            String[] parts = arguments[at].split("=", 2);
            require(
                    defaults.containsKey(parts[0]),
                    "unknown option " + arguments[at] + ": use " + String.join(" ", new TreeMap<>(defaults).keySet()));
            require(
                    parts.length == 2 || at + 1 < arguments.length,
                    parts[0] + " needs a value, found none: see --help");
            values.put(parts[0], parts.length == 2 ? parts[1] : arguments[++at]);
        }
        return new Arguments(values);
    }

    static void require(boolean right, String message) {
        if (!right) {
            throw new IllegalArgumentException(message);
        }
    }

    String text(String name) {
        return values.get(name);
    }

    /** Returns an integer of at least this size; the exception has the option and its value. */
    int integer(String name, int least) {
        String need = name + " " + text(name) + ": need an integer from " + least + " to " + Integer.MAX_VALUE;
        try {
            int value = Integer.parseInt(text(name));
            require(value >= least, need);
            return value;
        } catch (NumberFormatException unreadable) {
            throw new IllegalArgumentException(need, unreadable);
        }
    }

    /** Returns a number that is not negative; the exception has the option and its value. */
    float number(String name) {
        String need = name + " " + text(name) + ": need a number that is not negative";
        try {
            float value = Float.parseFloat(text(name));
            require(value >= 0 && value <= Float.MAX_VALUE, need);
            return value;
        } catch (NumberFormatException unreadable) {
            throw new IllegalArgumentException(need, unreadable);
        }
    }
}
