package ferro.backend.tcp;

import ferro.spi.RankContext;
import ferro.spi.Settings;
import ferro.spi.SharedMemoryProvider;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** Finds what ranks of one host share memory by; back end tcp knows no other, so it looks for the service. */
final class NearMemory {
    private static final Logger LOG = System.getLogger("ferro.join");

    private NearMemory() {}

    /**
     * Returns it, unless {@code ferro.links=tcp} or there is none that works here.
     *
     * @throws IllegalArgumentException if {@code ferro.links=shm} and there is none
     */
    static Optional<SharedMemoryProvider> find(RankContext context) {
        String links = Settings.LINKS.of(context);
        if (links.equals("tcp")) {
            LOG.log(Level.DEBUG, "no shared memory: " + Settings.LINKS.name() + "=tcp");
            return Optional.empty();
        }
        StringBuilder reasons = new StringBuilder();
        Optional<SharedMemoryProvider> found = usable(context, reasons);
        if (found.isEmpty()) {
            String why = reasons.isEmpty() ? "ferro-backend-shm is not on the class path" : reasons.toString();
            if (links.equals("shm")) {
                throw new IllegalArgumentException(Settings.LINKS.name() + "=shm cannot work here: " + why
                        + ": mend that, or let links be tcp (" + Settings.LINKS.name() + "=auto, back end tcp)");
            }
            LOG.log(Level.DEBUG, "no shared memory: " + why);
        }
        return found;
    }

    private static Optional<SharedMemoryProvider> usable(RankContext context, StringBuilder reasons) {
        var providers = ServiceLoader.load(SharedMemoryProvider.class).iterator();
        while (true) {
            try {
                if (!providers.hasNext()) {
                    return Optional.empty();
                }
                SharedMemoryProvider next = providers.next();
                Optional<String> unavailable = next.unavailableBecause(context);
                if (unavailable.isEmpty()) {
                    return Optional.of(next);
                }
                reasons.append(reasons.isEmpty() ? "" : "; ").append(unavailable.get());
            } catch (ServiceConfigurationError | LinkageError broken) {
                // a broken provider hides no other, and is named where none works
                reasons.append(reasons.isEmpty() ? "" : "; ")
                        .append("broken provider: ")
                        .append(broken.getMessage());
            }
        }
    }
}
