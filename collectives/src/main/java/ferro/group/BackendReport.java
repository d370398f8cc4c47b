package ferro.group;

import ferro.spi.RankContext;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Report about a back end that was found, for display.
 *
 * @param name        name by which users select the back end; the name of the class if the provider itself is broken
 * @param priority    priority among the usable back ends; {@code auto} never chooses a back end with a priority below 0
 * @param unavailable why the back end cannot work in this process, with a remedy; empty if the back end can work
 */
public record BackendReport(String name, int priority, Optional<String> unavailable) {
    /**
     * Rejects null.
     *
     * @param name        name by which users select the back end
     * @param priority    priority among the usable back ends
     * @param unavailable why the back end cannot work in this process; empty if the back end can work
     */
    public BackendReport {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(unavailable, "unavailable");
    }

    /**
     * Queries every provider on the class path or module path. A broken provider does not hide other providers.
     *
     * @param context settings that the providers read
     * @return reports, highest priority first
     */
    public static List<BackendReport> all(RankContext context) {
        return BackendSelection.candidates(Objects.requireNonNull(context, "context")).stream()
                .map(found -> found.report())
                .toList();
    }
}
