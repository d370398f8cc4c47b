package ferro.spi;

import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The ports to listen on: one port, a range of ports, or any free port.
 *
 * @param first lowest port; 0 for any free port
 * @param last  highest port; equal to {@code first} for a single port
 */
public record PortRange(int first, int last) {
    /** The highest port of TCP. */
    public static final int HIGHEST = 65_535;

    private static final Pattern TEXT = Pattern.compile("(\\d{1,9})(?:-(\\d{1,9}))?");

    /**
     * Creates a range, after a check of its bounds.
     *
     * @param first lowest port; 0 for any free port
     * @param last  highest port; equal to {@code first} for a single port
     * @throws IllegalArgumentException if a port is negative or above 65535, or if a range begins at 0 or ends below
     *     its first port
     */
    public PortRange {
        if (Math.max(first, last) > HIGHEST || first < 0) {
            throw new IllegalArgumentException(
                    "the largest port is " + HIGHEST + " and the smallest 0, found " + first + " and " + last);
        }
        if (last < first) {
            throw new IllegalArgumentException("the range ends at " + last + ", below its first port " + first);
        }
        if (first == 0 && last > 0) {
            throw new IllegalArgumentException("a range must begin at 1 or above, found " + first + " to " + last);
        }
    }

    /**
     * Parses {@code 20000}, {@code 20000-20015} or {@code 0}.
     *
     * @param text a port or a range of ports
     * @return range
     * @throws IllegalArgumentException if the text has another form, or the ports are not a valid range
     */
    public static PortRange of(String text) {
        Matcher parts = TEXT.matcher(Objects.requireNonNull(text, "text"));
        if (!parts.matches()) {
            throw new IllegalArgumentException("need digits, with a hyphen between two ports, found \"" + text + "\"");
        }
        int first = Integer.parseInt(parts.group(1));
        return new PortRange(first, parts.group(2) == null ? first : Integer.parseInt(parts.group(2)));
    }

    /** {@return whether the system chooses the port} */
    public boolean any() {
        return first == 0;
    }

    /** {@return the number of ports in the range, 1 or more} */
    public int size() {
        return last - first + 1;
    }

    /** {@return the range in the notation of the setting, for example {@code 20000-20015}} */
    @Override
    public String toString() {
        return first == last ? Integer.toString(first) : first + "-" + last;
    }
}
