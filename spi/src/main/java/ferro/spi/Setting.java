package ferro.spi;

import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * One setting, with its property, its default and the function that parses its text. {@link Settings} lists all
 * settings.
 *
 * @param <T> type of the value
 */
public final class Setting<T> {
    private final String name;
    private final String fallback;
    private final String need;
    private final Function<String, T> parse;

    private Setting(String name, String fallback, String need, Function<String, T> parse) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(need, "need");
        Objects.requireNonNull(parse, "parse");
        this.name = name;
        this.fallback = fallback;
        this.need = need;
        this.parse = parse;
    }

    /**
     * Creates a setting without a default. {@link #withDefault} adds a default.
     *
     * @param <T>   type of the value
     * @param name  name of the property, such as {@code ferro.timeout}. The variable has the same name in capitals,
     *     {@code FERRO_TIMEOUT}. A name in capitals means that the setting is only a variable
     * @param need  description of a valid value, for messages and docs/configuration.md
     * @param parse converts the text to the value; throws IllegalArgumentException if the text is invalid
     * @return setting
     */
    public static <T> Setting<T> named(String name, String need, Function<String, T> parse) {
        return new Setting<>(name, null, need, parse);
    }

    /**
     * Returns a copy of this setting with a default.
     *
     * @param text text that is used if the setting is unset
     * @return setting
     */
    public Setting<T> withDefault(String text) {
        return new Setting<>(name, Objects.requireNonNull(text, "text"), need, parse);
    }

    /**
     * {@return the name of the property, such as {@code ferro.timeout}; a name in capitals means that the setting is
     * only a variable}
     */
    public String name() {
        return name;
    }

    /** {@return the text that is used if the setting is unset; empty if the setting has no default} */
    public Optional<String> fallback() {
        return Optional.ofNullable(fallback);
    }

    /** {@return the description of a valid value, for messages and docs/configuration.md} */
    public String need() {
        return need;
    }

    /**
     * {@return the function that parses the text; the function throws IllegalArgumentException if the text is invalid}
     */
    public Function<String, T> parse() {
        return parse;
    }

    /**
     * Returns the effective value.
     *
     * @param context source of the value
     * @return value
     * @throws IllegalArgumentException if the text is invalid, or if the setting is unset and has no default; the
     *     message contains the setting and its text
     */
    public T of(RankContext context) {
        Optional<T> found = find(context);
        if (found.isEmpty()) {
            throw new IllegalArgumentException(name + " is not set: need " + need + "; set " + waysToSet());
        }
        return found.get();
    }

    private String waysToSet() {
        return name.equals(variable()) ? "the variable " + name : "-D" + name + "=... or the variable " + variable();
    }

    /**
     * Returns the effective value, if the setting has one.
     *
     * @param context source of the value
     * @return value; empty if the setting is unset and has no default
     * @throws IllegalArgumentException if the text is invalid; the message contains the setting and its text
     */
    public Optional<T> find(RankContext context) {
        String text = Objects.requireNonNull(context, "context").setting(name).orElse(fallback);
        return text == null ? Optional.empty() : Optional.ofNullable(read(text));
    }

    /** {@return the environment variable of this setting, for example {@code FERRO_TIMEOUT}} */
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
     * Parses a value of this setting.
     *
     * @param text text from a command line or a variable
     * @return value
     * @throws IllegalArgumentException if the text is invalid; the message contains the setting, the text and a
     *     description of a valid value
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
     * @throws IllegalArgumentException if the text is not a number with the unit ms, s, m or h, or if the time is
     *     zero or too long
     */
    public static Duration duration(String text) {
        Duration time = interval(text);
        if (time.isZero()) {
            throw new IllegalArgumentException("\"" + text + "\" is zero: a timeout must be more than zero");
        }
        return time;
    }

    /**
     * Parses a time that may be zero.
     *
     * @param text number and unit
     * @return time
     * @throws IllegalArgumentException if the text is not a number with the unit ms, s, m or h, or if the time is
     *     too long
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
            throw new IllegalArgumentException("the time is too long", tooLong);
        }
    }

    /**
     * Parses a count.
     *
     * @param text text of the number
     * @return 0 or more
     * @throws IllegalArgumentException if the text is not a number from 0 to 2^31 - 1
     */
    public static int count(String text) {
        return (int) number(Objects.requireNonNull(text, "text"), text, Integer.MAX_VALUE);
    }

    /**
     * Parses a number of bytes: {@code 4096}, {@code 64KiB}, {@code 1MiB}, {@code 1GiB}.
     *
     * @param text number and unit; without a unit, the number is in bytes
     * @return number of bytes
     * @throws IllegalArgumentException if the text is not a number with the unit B, KiB, MiB or GiB or without a
     *     unit, or if the size is more than 2^63 - 1 bytes
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
            throw new IllegalArgumentException("the size is more than 2^63 - 1 bytes", tooMany);
        }
    }

    /** Parses the number at the start of a text. */
    private static long number(String digits, String text, long most) {
        if (digits.isEmpty() || digits(digits) < digits.length()) {
            throw new IllegalArgumentException(
                    "the text must begin with a number that is 0 or more, found \"" + text + "\"");
        }
        try {
            long number = Long.parseLong(digits);
            if (number <= most) {
                return number;
            }
        } catch (NumberFormatException tooLarge) {
            // the text has only digits, so the number is too large
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

    @Override
    public String toString() {
        return "Setting[name=" + name + ", fallback=" + fallback + ", need=" + need + ", parse=" + parse + "]";
    }
}
