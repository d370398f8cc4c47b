package ferro.spi;

import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * One setting: its property, its default and the function that parses its text. All settings are listed in
 * {@link Settings}.
 *
 * @param <T>      type of the value
 * @param name     property, {@code ferro.timeout}; its variable is the name in capitals, {@code FERRO_TIMEOUT}; a name
 *                 in capitals is a variable only
 * @param fallback text used where nothing is set; null means that there is no default
 * @param need     description of a valid value, for messages and docs/configuration.md
 * @param parse    text to value; throws IllegalArgumentException
 */
public record Setting<T>(String name, String fallback, String need, Function<String, T> parse) {
    /**
     * Rejects null in every component but the default.
     *
     * @param name     property, or a name in capitals for a variable only
     * @param fallback text used where nothing is set; null means that there is no default
     * @param need     description of a valid value
     * @param parse    text to value
     */
    public Setting {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(need, "need");
        Objects.requireNonNull(parse, "parse");
    }

    /**
     * Returns the effective value.
     *
     * @param context where to look
     * @return value
     * @throws IllegalArgumentException naming the setting and its text if that makes no sense, or if nothing is set and
     *     there is no default
     */
    public T of(RankContext context) {
        return find(context)
                .orElseThrow(() -> new IllegalArgumentException(
                        name + " is not set: need " + need + ", by -D" + name + "=... or the variable " + variable()));
    }

    /**
     * Returns the effective value, if there is one.
     *
     * @param context where to look
     * @return value, or empty if nothing is set and there is no default
     * @throws IllegalArgumentException naming the setting and its text if that makes no sense
     */
    public Optional<T> find(RankContext context) {
        return Objects.requireNonNull(context, "context")
                .setting(name)
                .or(() -> Optional.ofNullable(fallback))
                .map(this::read);
    }

    /**
     * Returns the environment variable of this setting.
     *
     * @return for example {@code FERRO_TIMEOUT}
     */
    public String variable() {
        return variable(name);
    }

    /**
     * Returns the environment variable of a setting.
     *
     * @param name property such as {@code ferro.timeout}
     * @return for example {@code FERRO_TIMEOUT}
     */
    public static String variable(String name) {
        return Objects.requireNonNull(name, "name").toUpperCase(Locale.ROOT).replace('.', '_');
    }

    /**
     * Reads the value of this setting.
     *
     * @param text as it is written on a command line or in a variable
     * @return value
     * @throws IllegalArgumentException naming the setting, the text and what is needed, if the text makes no sense
     */
    public T read(String text) {
        Objects.requireNonNull(text, "text");
        try {
            return parse.apply(text.trim());
        } catch (IllegalArgumentException unreadable) {
            boolean told = unreadable.getMessage() != null && !(unreadable instanceof NumberFormatException);
            String why = told ? " (" + unreadable.getMessage() + ")" : "";
            throw new IllegalArgumentException(name + "=" + text + ": need " + need + why, unreadable);
        }
    }

    /**
     * Parses a time with its unit: {@code 500ms}, {@code 3s}, {@code 2m}, {@code 1h}.
     *
     * @param text number and unit
     * @return time, more than zero
     * @throws IllegalArgumentException if it is anything else
     */
    public static Duration duration(String text) {
        Duration time = interval(text);
        if (time.isZero()) {
            throw new IllegalArgumentException("\"" + text + "\" is zero, which is no deadline");
        }
        return time;
    }

    /**
     * Parses a time that may be zero.
     *
     * @param text number and unit
     * @return time
     * @throws IllegalArgumentException if it is anything else
     */
    public static Duration interval(String text) {
        int digits = digits(Objects.requireNonNull(text, "text"));
        long amount = number(text.substring(0, digits), text, Long.MAX_VALUE);
        String unit = text.substring(digits).trim();
        try {
            return switch (unit) {
                case "ms" -> Duration.ofMillis(amount);
                case "s" -> Duration.ofSeconds(amount);
                case "m" -> Duration.ofMinutes(amount);
                case "h" -> Duration.ofHours(amount);
                default -> throw new IllegalArgumentException("the unit must be ms, s, m or h, found \"" + unit + "\"");
            };
        } catch (ArithmeticException tooLong) {
            throw new IllegalArgumentException("that is too long", tooLong);
        }
    }

    /**
     * Parses a count.
     *
     * @param text a number
     * @return 0 or more
     * @throws IllegalArgumentException if it is anything else
     */
    public static int count(String text) {
        return (int) number(Objects.requireNonNull(text, "text"), text, Integer.MAX_VALUE);
    }

    /**
     * Parses a number of bytes: {@code 4096}, {@code 64KiB}, {@code 1MiB}, {@code 1GiB}.
     *
     * @param text number and unit, no unit meaning bytes
     * @return bytes
     * @throws IllegalArgumentException if it is anything else
     */
    public static long bytes(String text) {
        int digits = digits(Objects.requireNonNull(text, "text"));
        long amount = number(text.substring(0, digits), text, Long.MAX_VALUE);
        String unit = text.substring(digits).trim();
        try {
            return switch (unit) {
                case "", "B" -> amount;
                case "KiB" -> Math.multiplyExact(amount, 1L << 10);
                case "MiB" -> Math.multiplyExact(amount, 1L << 20);
                case "GiB" -> Math.multiplyExact(amount, 1L << 30);
                default ->
                    throw new IllegalArgumentException("the unit must be B, KiB, MiB or GiB, found \"" + unit + "\"");
            };
        } catch (ArithmeticException tooMany) {
            throw new IllegalArgumentException("that is more than 2^63 - 1 bytes", tooMany);
        }
    }

    /** Reads the number that a text begins with. */
    private static long number(String digits, String text, long most) {
        if (digits.isEmpty() || digits(digits) < digits.length()) {
            throw new IllegalArgumentException("it has to begin with a number, 0 or more, found \"" + text + "\"");
        }
        try {
            long number = Long.parseLong(digits);
            if (number <= most) {
                return number;
            }
        } catch (NumberFormatException tooLarge) {
            // the text has digits only, so it has too many of them
        }
        throw new IllegalArgumentException("the largest number is " + most);
    }

    private static int digits(String text) {
        int end = 0;
        while (end < text.length() && Character.isDigit(text.charAt(end))) {
            end++;
        }
        return end;
    }
}
