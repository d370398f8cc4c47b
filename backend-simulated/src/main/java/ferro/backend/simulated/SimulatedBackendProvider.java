package ferro.backend.simulated;

import ferro.Backend;
import ferro.spi.BackendProvider;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.util.Optional;

/**
 * Lets {@code -Dferro.backend=simulated} join a world of one. {@link SimulatedBackend#run} and
 * {@link SimulatedBackend#createGroup(int)} make larger worlds, because their ranks are in one JVM. Never chosen by {@code auto}.
 */
public final class SimulatedBackendProvider implements BackendProvider {
    /** For the service loader. */
    public SimulatedBackendProvider() {}

    @Override
    public String name() {
        return "simulated";
    }

    @Override
    public int priority() {
        return -1;
    }

    @Override
    public Optional<String> unavailableBecause(RankContext context) {
        return Optional.empty();
    }

    /**
     * Joins a world of one.
     *
     * @param group   group to join
     * @param context context of the rank
     * @return the only rank
     * @throws IllegalArgumentException if the world has more than one rank
     */
    @Override
    public Backend create(GroupSpec group, RankContext context) {
        if (group.worldSize() != 1) {
            throw new IllegalArgumentException("group \"" + group.name() + "\" of world size " + group.worldSize()
                    + " cannot be joined with back end simulated, which reaches no other process: use"
                    + " SimulatedBackend.run(" + group.worldSize() + ", ...) in one JVM, or -Dferro.backend=tcp");
        }
        return SimulatedBackend.alone(group, context);
    }
}
