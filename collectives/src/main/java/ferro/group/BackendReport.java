package ferro.group;

import ferro.spi.RankContext;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Report about a back end that was found, for display.
 *
 * @param name        name by which users select it; the name of the class if the provider itself is broken
 * @param priority    priority among the usable back ends; {@code auto} never chooses one below 0
 * @param unavailable why the back end cannot work in this process and how to fix it; empty if it can
 */
public record BackendReport(String name, int priority, Optional<String> unavailable) {
    /**
     * Rejects null.
     *
     * @param name        name by which users select it
     * @param priority    priority among the usable back ends
     * @param unavailable why the back end cannot work in this process, empty if it can work
     */
    public BackendReport {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(unavailable, "unavailable");
    }

    /**
     * Queries every provider on the class path or module path. A broken provider does not hide the others.
     *
     * @param context settings that the providers read
     * @return reports, highest priority first
     */
    public static List<BackendReport> all(RankContext context) {
        return BackendSelection.candidates(Objects.requireNonNull(context, "context")).stream()
                .map(found -> new BackendReport(found.name(), found.priority(), found.unavailable()))
                .toList();
    }
}
