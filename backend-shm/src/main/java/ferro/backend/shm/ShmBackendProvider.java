package ferro.backend.shm;

import ferro.Backend;
import ferro.spi.BackendProvider;
import ferro.spi.BrokenServices;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Services;
import ferro.spi.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Back end {@code tcp} with {@code ferro.links=shm}, for ranks of one host. They meet and send control messages by TCP,
 * and use shared memory for everything else, or fail. Back end {@code tcp} alone shares memory where it can.
 */
public final class ShmBackendProvider implements BackendProvider {
    private static final String CARRIER = "tcp";

    /** Loads nothing; for {@link java.util.ServiceLoader}. */
    public ShmBackendProvider() {}

    @Override
    public String name() {
        return "shm";
    }

    @Override
    public int priority() {
        return 40;
    }

    @Override
    public Optional<String> unavailableBecause(RankContext context) {
        RankContext asked = new SharedMemoryOnly(context);
        try {
            Optional<String> unusable = SegmentFolder.unusableBecause(asked);
            return unusable.isPresent() ? unusable : carrier().unavailableBecause(asked);
        } catch (IllegalArgumentException why) {
            return Optional.of(why.getMessage());
        }
    }

    /**
     * Joins by TCP, with only shared memory for data.
     *
     * @param group   group to join
     * @param context context of the rank
     * @return this rank's end
     * @throws IllegalArgumentException if there is no back end {@code tcp} on the path
     */
    @Override
    public Backend create(GroupSpec group, RankContext context) {
        return carrier().create(group, new SharedMemoryOnly(context));
    }

    private static BackendProvider carrier() {
        List<String> names = new ArrayList<>();
        BrokenServices broken = new BrokenServices();
        Optional<BackendProvider> found = Services.first(
                Services.of(BackendProvider.class),
                next -> {
                    names.add(next.name());
                    return next.name().equals(CARRIER) ? Optional.of(next) : Optional.empty();
                },
                broken::add);
        names.addAll(broken.texts());
        return found.orElseThrow(() -> new IllegalArgumentException(
                "ranks that share memory find each other through back end " + CARRIER + ", but the class path has only "
                        + names + ": add ferro to the class path",
                broken.cause()));
    }

    /** Context whose links are shared memory, whatever is set. */
    private static final class SharedMemoryOnly extends ForwardingContext {
        SharedMemoryOnly(RankContext outer) {
            super(outer);
        }

        @Override
        public Optional<String> setting(String name) {
            return name.equals(Settings.LINKS.name()) ? Optional.of("shm") : super.setting(name);
        }
    }
}
