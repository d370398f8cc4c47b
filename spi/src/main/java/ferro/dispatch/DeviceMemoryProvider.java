package ferro.dispatch;

import ferro.spi.RankContext;
import java.util.Optional;

/** Opens the memory of one kind of device; found by {@link java.util.ServiceLoader}; the constructor must load nothing. */
public interface DeviceMemoryProvider {
    /**
     * Returns the kind of device.
     *
     * @return lower case, for example {@code cuda}
     */
    String name();

    /**
     * Returns the place among usable ones.
     *
     * @return higher first; below 0 means never by itself
     */
    int priority();

    /**
     * Returns why it cannot work here.
     *
     * @param context settings and environment to look at
     * @return empty if it can
     */
    Optional<String> unavailableBecause(RankContext context);

    /**
     * Opens it.
     *
     * @param context what it may use
     * @return memory, closed by the context that shares it
     */
    DeviceMemory open(RankContext context);
}
