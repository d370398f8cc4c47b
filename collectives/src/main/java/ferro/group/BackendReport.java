package ferro.group;

import ferro.spi.RankContext;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What there is to say about a back end that was found, for those who show it.
 *
 * @param name        what users select by; the class's name where the provider itself is broken
 * @param priority    place among the usable ones; below 0 never by {@code auto}
 * @param unavailable why it cannot work here and what to do, empty if it can
 */
public record BackendReport(String name, int priority, Optional<String> unavailable) {
    /**
     * Refuses null.
     *
     * @param name        what users select by
     * @param priority    place among the usable ones
     * @param unavailable why it cannot work here, empty if it can
     */
    public BackendReport {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(unavailable, "unavailable");
    }

    /**
     * Asks every provider on the path; a broken one hides no other.
     *
     * @param context settings to look at
     * @return reports, highest priority first
     */
    public static List<BackendReport> all(RankContext context) {
        return BackendSelection.candidates(Objects.requireNonNull(context, "context")).stream()
                .map(found -> new BackendReport(found.name(), found.priority(), found.unavailable()))
                .toList();
    }
}
