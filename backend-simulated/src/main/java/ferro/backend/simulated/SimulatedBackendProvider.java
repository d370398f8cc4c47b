package ferro.backend.simulated;

import ferro.Backend;
import ferro.spi.BackendProvider;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.util.Optional;

/**
 * The provider of the back end {@code simulated}. With {@code -Dferro.backend=simulated}, a program joins a group of
 * one rank. {@link SimulatedBackend#run} and {@link SimulatedBackend#createGroup(int)} create larger groups, whose
 * ranks are all in one JVM. The setting {@code auto} never chooses the back end {@code simulated}.
 */
public final class SimulatedBackendProvider implements BackendProvider {
    /** Creates the provider, for the service loader. */
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
     * Joins a group of one rank.
     *
     * @param group   group to join
     * @param context context of the rank
     * @return the only rank
     * @throws IllegalArgumentException if the group has more than one rank
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
