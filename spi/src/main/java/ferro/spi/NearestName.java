package ferro.spi;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Finds the existing name that is nearest to a misspelled name, for messages such as "did you mean run?".
 *
 * <p>The distance of two names is the number of letters to insert, delete, change or swap with their neighbour (Damerau
 * 1964, doi:10.1145/363958.363994, restricted to one edit of each letter).
 */
public final class NearestName {
    private NearestName() {}

    /**
     * Returns the nearest of several names.
     *
     * @param typed   the misspelled name
     * @param names   existing names; among names of equal distance, the first is taken
     * @param maximum maximum distance
     * @return nearest name; empty if all names are farther away
     */
    public static Optional<String> of(String typed, List<String> names, int maximum) {
        Objects.requireNonNull(typed, "typed");
        String nearest = null;
        int least = Integer.MAX_VALUE;
        for (String name : Objects.requireNonNull(names, "names")) {
            int distance = distance(typed, name);
            if (distance <= maximum && distance < least) {
                nearest = name;
                least = distance;
            }
        }
        return Optional.ofNullable(nearest);
    }

    private static int distance(String one, String other) {
        int[][] table = new int[one.length() + 1][other.length() + 1];
        for (int i = 0; i <= one.length(); i++) {
            for (int k = 0; k <= other.length(); k++) {
                if (i == 0 || k == 0) {
                    table[i][k] = i + k;
                    continue;
                }
                int change = table[i - 1][k - 1] + (one.charAt(i - 1) == other.charAt(k - 1) ? 0 : 1);
                table[i][k] = Math.min(change, 1 + Math.min(table[i - 1][k], table[i][k - 1]));
                boolean swapped = i > 1
                        && k > 1
                        && one.charAt(i - 1) == other.charAt(k - 2)
                        && one.charAt(i - 2) == other.charAt(k - 1);
                if (swapped) {
                    table[i][k] = Math.min(table[i][k], table[i - 2][k - 2] + 1);
                }
            }
        }
        return table[one.length()][other.length()];
    }
}
