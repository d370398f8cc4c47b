package ferro.launcher.doctor;

import ferro.spi.ForwardingContext;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.util.Optional;

/** A context as the first rank on this host sees it, for questions about a job that is not started yet. */
public final class FirstRank extends ForwardingContext {
    /** Wraps a context. If it names no rank, this is rank 0 of 1. */
    public FirstRank(RankContext outer) {
        super(outer);
    }

    @Override
    public Optional<String> setting(String name) {
        Optional<String> given = outer().setting(name);
        return given.isEmpty() && name.equals(Settings.LOCAL_RANK.name()) ? Optional.of("0") : given;
    }
}
