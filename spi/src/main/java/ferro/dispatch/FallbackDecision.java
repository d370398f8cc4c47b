package ferro.dispatch;

import ferro.Backend;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The decision of the current settings whether device tensors may go through host memory. Every call reads the settings
 * again.
 *
 * <p>The settings {@code ferro.gpu.fallback}, {@code FERRO_ENABLE_GPU_FALLBACK}, and the older name
 * {@code FERROTORCH_ENABLE_GPU_FALLBACK} are read in this order. The first setting that is set decides, even if its
 * value is 0.
 *
 * @param isOpen    whether device tensors may go through host memory
 * @param decidedBy name of the setting that decides; null if none of the settings is set
 */
public record FallbackDecision(boolean isOpen, String decidedBy) {
    private static final List<Setting<Boolean>> FIRST_SET_WINS =
            List.of(Settings.GPU_FALLBACK, Settings.ENABLE_GPU_FALLBACK, Settings.FERROTORCH_ENABLE_GPU_FALLBACK);

    private static final String VARIABLE = Settings.ENABLE_GPU_FALLBACK.name();

    /**
     * Returns the decision of the current settings.
     *
     * @param context settings
     * @return decision, with the setting that decides
     * @throws IllegalArgumentException if a setting has an invalid value
     */
    public static FallbackDecision of(RankContext context) {
        Objects.requireNonNull(context, "context");
        for (Setting<Boolean> setting : FIRST_SET_WINS) {
            Optional<Boolean> open = setting.find(context);
            if (open.isPresent()) {
                return new FallbackDecision(open.get(), setting.name());
            }
        }
        return new FallbackDecision(false, null);
    }

    /**
     * Returns the exception message for a call on device tensors that a back end for host memory rejects.
     *
     * @param operation kind of call, for example {@code allReduce}
     * @param found     simple name of the class of the back end
     * @param rank      rank of the back end
     * @param worldSize number of ranks of the back end
     * @return message of the exception that {@link GpuCollectives} throws if a call over this back end has no route
     */
    public String refusal(String operation, String found, int rank, int worldSize) {
        Objects.requireNonNull(operation, "operation");
        Objects.requireNonNull(found, "found");
        String why = isOpen ? HostFallbackPath.whyNotAlone() : HostFallbackPath.needs(HostFallbackPath::service);
        return refusal(operation, found, rank, worldSize, why);
    }

    /**
     * Returns the exception message for a back end that rejects device tensors. If the settings allow the host round
     * trip, {@code why} is the reason why the round trip cannot work. If the settings do not allow the round trip,
     * {@code why} ends the sentence about the round trip.
     */
    String refusal(String operation, Backend backend, String why) {
        return refusal(operation, backend.getClass().getSimpleName(), backend.rank(), backend.worldSize(), why);
    }

    private String refusal(String operation, String found, int rank, int worldSize, String why) {
        String start = operation + " on a device tensor requires nccl, found " + found + " on rank " + rank
                + " of world size " + worldSize + ": ";
        return isOpen
                ? start + decidedBy + " allows a host round-trip (Gloo-equivalent; " + VARIABLE + "=1), but " + why
                : start + "use -Dferro.backend=nccl, or set " + VARIABLE
                        + "=1 for a host round-trip (Gloo-equivalent), which is slow" + why + closedBy();
    }

    private String closedBy() {
        return decidedBy == null || decidedBy.equals(VARIABLE)
                ? ""
                : "; but " + decidedBy + " forbids the round-trip and takes precedence: unset " + decidedBy;
    }
}
