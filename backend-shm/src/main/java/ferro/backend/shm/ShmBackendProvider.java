package ferro.backend.shm;

import ferro.Backend;
import ferro.spi.BackendProvider;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.ServiceErrors;
import ferro.spi.Services;
import ferro.spi.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Back end {@code tcp} with {@code ferro.links=shm}, for ranks of one host. The ranks find each other and send control
 * messages by TCP. All other data goes through shared memory, or the ranks fail. In contrast, back end {@code tcp}
 * without this setting uses shared memory where possible.
 */
public final class ShmBackendProvider implements BackendProvider {
    private static final String CARRIER = "tcp";

    /** Creates a provider, which loads nothing. {@link java.util.ServiceLoader} calls this constructor. */
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
        RankContext asked = new ShmOnlyContext(context);
        try {
            Optional<String> unusable = SegmentFolder.unusableBecause(asked);
            return unusable.isPresent() ? unusable : carrier().unavailableBecause(asked);
        } catch (IllegalArgumentException why) {
            return Optional.of(why.getMessage());
        }
    }

    /**
     * Joins a group by TCP. Data uses only shared memory.
     *
     * @param group   group to join
     * @param context context of the rank
     * @return back end of this rank
     * @throws IllegalArgumentException if no back end {@code tcp} is on the class path or module path
     */
    @Override
    public Backend create(GroupSpec group, RankContext context) {
        return carrier().create(group, new ShmOnlyContext(context));
    }

    private static BackendProvider carrier() {
        List<String> names = new ArrayList<>();
        ServiceErrors broken = new ServiceErrors();
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

    /** A context in which {@code ferro.links} always has the value {@code shm}. */
    private static final class ShmOnlyContext extends ForwardingContext {
        ShmOnlyContext(RankContext outer) {
            super(outer);
        }

        @Override
        public Optional<String> setting(String name) {
            return name.equals(Settings.LINKS.name()) ? Optional.of("shm") : super.setting(name);
        }
    }
}
