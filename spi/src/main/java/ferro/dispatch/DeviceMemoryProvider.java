package ferro.dispatch;

import ferro.spi.RankContext;
import java.util.Optional;

/**
 * A service that opens the memory of one kind of device. {@link java.util.ServiceLoader} finds the implementations of
 * this service. The constructor must not load native libraries.
 */
public interface DeviceMemoryProvider {
    /**
     * Returns the kind of device.
     *
     * @return name in lower case, for example {@code cuda}
     */
    String name();

    /**
     * {@return the priority of the provider} The usable provider with the highest priority is chosen. A provider with a
     * priority below 0 is never chosen.
     */
    int priority();

    /**
     * Returns why the provider cannot be used in this process.
     *
     * @param context settings and environment to read
     * @return reason; empty if the provider can be used
     */
    Optional<String> unavailableBecause(RankContext context);

    /**
     * Opens the memory of the device.
     *
     * @param context context that the memory may use
     * @return device memory; the context that shares the device memory also closes the device memory
     */
    DeviceMemory open(RankContext context);
}
