package ferro.dispatch;

import ferro.spi.RankContext;
import java.util.Optional;

/**
 * Opens the memory of one kind of device. {@link java.util.ServiceLoader} finds it; the constructor must not load anything.
 */
public interface DeviceMemoryProvider {
    /**
     * Returns the kind of device.
     *
     * @return lower case, for example {@code cuda}
     */
    String name();

    /**
     * Returns the priority among the usable providers.
     *
     * @return priority; the highest is chosen, one below 0 never
     */
    int priority();

    /**
     * Returns why the provider cannot work here.
     *
     * @param context settings and environment to read
     * @return empty if it can
     */
    Optional<String> unavailableBecause(RankContext context);

    /**
     * Opens the memory.
     *
     * @param context context that the memory may use
     * @return memory; the context that shares it closes it
     */
    DeviceMemory open(RankContext context);
}
