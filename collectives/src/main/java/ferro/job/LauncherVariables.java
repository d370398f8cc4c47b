package ferro.job;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The variables that a launcher has set, with methods to read them. An empty variable counts as not set.
 *
 * @param all variables by name
 */
record LauncherVariables(Map<String, String> all) {
    Optional<String> find(String name) {
        String text = all.getOrDefault(name, "").trim();
        return text.isEmpty() ? Optional.empty() : Optional.of(text);
    }

    boolean has(String... names) {
        for (String name : names) {
            if (find(name).isEmpty()) {
                return false;
            }
        }
        return true;
    }

    boolean hasAny(String... names) {
        for (String name : names) {
            if (find(name).isPresent()) {
                return true;
            }
        }
        return false;
    }

    /** Returns those of the named variables that are set, as {@code NAME=value NAME=value}. */
    String shown(String... names) {
        StringJoiner shown = new StringJoiner(" ");
        for (String name : names) {
            Optional<String> text = find(name);
            if (text.isPresent()) {
                shown.add(name + "=" + text.get());
            }
        }
        return shown.toString();
    }

    /** Returns the names of the variables that are not set, joined by "and". */
    String missing(String... names) {
        return Stream.of(names).filter(name -> !has(name)).collect(Collectors.joining(" and "));
    }

    int rank(String name, String wayOut) {
        return number(name, 0, "a rank from 0" + wayOut);
    }

    int size(String name, String wayOut) {
        return number(name, 1, "a number of ranks from 1" + wayOut);
    }

    /** Reads a rank. The rank must be below the number of ranks. */
    int rankBelow(String name, int size, String sizeName, String wayOut) {
        int rank = rank(name, wayOut);
        if (rank >= size) {
            throw new IllegalArgumentException(name + "=" + rank + " of " + sizeName + "=" + size
                    + ": need a rank from 0 to " + (size - 1) + wayOut);
        }
        return rank;
    }

    OptionalInt rankIfAny(String name, String wayOut) {
        return has(name) ? OptionalInt.of(rank(name, wayOut)) : OptionalInt.empty();
    }

    /**
     * Reads a number from a variable that must be set.
     *
     * @param need valid values and a remedy, for the message
     */
    int number(String name, int least, String need) {
        return (int) number(name, least, Integer.MAX_VALUE, need);
    }

    private long number(String name, long least, long highest, String need) {
        String text = find(name).orElseThrow();
        try {
            long number = Long.parseLong(text);
            if (number >= least && number <= highest) {
                return number;
            }
        } catch (NumberFormatException none) {
            throw new IllegalArgumentException(name + "=" + text + ": need " + need, none);
        }
        throw new IllegalArgumentException(name + "=" + text + ": need " + need);
    }

    /** Reads a number from a variable that may be unset. The number may have more than 32 bits. */
    OptionalLong longIfAny(String name, String need) {
        return has(name) ? OptionalLong.of(number(name, 0, Long.MAX_VALUE, need)) : OptionalLong.empty();
    }

    OptionalInt numberIfAny(String name, int least, String need) {
        return has(name) ? OptionalInt.of(number(name, least, need)) : OptionalInt.empty();
    }
}
