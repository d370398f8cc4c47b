package ferro.spi;

import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Ports to listen on: one port, a range of ports, or any free port.
 *
 * @param first lowest port; 0 for whichever is free
 * @param last  highest port, the same as {@code first} for one
 */
public record PortRange(int first, int last) {
    /** The highest port of TCP. */
    public static final int HIGHEST = 65_535;

    private static final Pattern TEXT = Pattern.compile("(\\d{1,9})(?:-(\\d{1,9}))?");

    /**
     * Checks the bounds.
     *
     * @param first lowest port; 0 for whichever is free
     * @param last  highest port, the same as {@code first} for one
     * @throws IllegalArgumentException if one is above 65535, a range begins at 0, or ends before it begins
     */
    public PortRange {
        if (Math.max(first, last) > HIGHEST || first < 0) {
            throw new IllegalArgumentException(
                    "the largest port is " + HIGHEST + " and the smallest 0, found " + first + " and " + last);
        }
        if (last < first) {
            throw new IllegalArgumentException("it ends at " + last + ", before it begins at " + first);
        }
        if (first == 0 && last > 0) {
            throw new IllegalArgumentException("a range begins at 1 or above, found " + first + " to " + last);
        }
    }

    /**
     * Reads {@code 20000}, {@code 20000-20015} or {@code 0}.
     *
     * @param text a port or a range of ports
     * @return range
     * @throws IllegalArgumentException if it is anything else
     */
    public static PortRange of(String text) {
        Matcher parts = TEXT.matcher(Objects.requireNonNull(text, "text"));
        if (!parts.matches()) {
            throw new IllegalArgumentException(
                    "it has to be digits, and a hyphen between two ports, found \"" + text + "\"");
        }
        int first = Integer.parseInt(parts.group(1));
        return new PortRange(first, parts.group(2) == null ? first : Integer.parseInt(parts.group(2)));
    }

    /**
     * Returns whether the system chooses the port.
     *
     * @return whether any free port will do
     */
    public boolean any() {
        return first == 0;
    }

    /**
     * Returns how many ports there are to choose from.
     *
     * @return 1 or more
     */
    public int size() {
        return last - first + 1;
    }

    /**
     * Returns the range as it is written.
     *
     * @return for example {@code 20000-20015}
     */
    @Override
    public String toString() {
        return first == last ? Integer.toString(first) : first + "-" + last;
    }
}
