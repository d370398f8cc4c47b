package ferro.dispatch;

import ferro.spi.RankContext;
import ferro.spi.ServiceErrors;
import ferro.spi.Services;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Finds the {@link DeviceMemory} that a context shares. If the context has no device memory yet, the usable {@link
 * DeviceMemoryProvider} with the highest priority opens device memory.
 *
 * <p>A test or a program that has its own device memory registers that memory first with {@code
 * context.shared(DeviceMemory.class, ...)}.
 */
public final class DeviceMemories {
    private DeviceMemories() {}

    /**
     * Acquires the device memory of a context. The caller releases the device memory with {@code
     * context.release(DeviceMemory.class)}.
     *
     * @param context context that shares the memory
     * @return device memory
     * @throws UnsupportedOperationException if the context has no device memory and no provider can open one; the
     *     message lists each provider with its reason. The cause is the error of a provider that cannot be loaded
     */
    public static DeviceMemory shared(RankContext context) {
        return Objects.requireNonNull(context, "context").shared(DeviceMemory.class, () -> {
            List<String> reasons = new ArrayList<>();
            ServiceErrors broken = new ServiceErrors();
            DeviceMemoryProvider best = best(context, reasons, broken)
                    .orElseThrow(() -> new UnsupportedOperationException(noneOf(reasons), broken.cause()));
            return best.open(context);
        });
    }

    /**
     * Returns why {@link #shared} would find no device memory. This method opens no device memory.
     *
     * @param context context that would share the memory
     * @return reason; empty if the context has device memory, or a provider can open device memory
     */
    public static Optional<String> unavailableBecause(RankContext context) {
        if (isShared(context)) {
            return Optional.empty();
        }
        List<String> reasons = new ArrayList<>();
        return best(context, reasons, new ServiceErrors()).isPresent()
                ? Optional.empty()
                : Optional.of(noneOf(reasons));
    }

    private static boolean isShared(RankContext context) {
        boolean shared = Objects.requireNonNull(context, "context")
                .find(DeviceMemory.class)
                .isPresent();
        if (shared) {
            context.release(DeviceMemory.class);
        }
        return shared;
    }

    private static Optional<DeviceMemoryProvider> best(
            RankContext context, List<String> reasons, ServiceErrors broken) {
        List<DeviceMemoryProvider> usable = new ArrayList<>();
        Services.each(
                Services.of(DeviceMemoryProvider.class),
                provider -> {
                    Optional<String> why = provider.unavailableBecause(context);
                    if (why.isPresent()) {
                        reasons.add(provider.name() + " (" + why.get() + ")");
                    } else if (provider.priority() >= 0) {
                        usable.add(provider);
                    }
                },
                broken::add);
        reasons.addAll(broken.texts());
        return usable.stream().reduce((best, next) -> next.priority() > best.priority() ? next : best);
    }

    private static String noneOf(List<String> reasons) {
        return reasons.isEmpty()
                ? "no usable device memory; found: none: add ferro-backend-nccl to the class path"
                : "no usable device memory; found: " + String.join(", ", reasons);
    }
}
