package ferro.dispatch;

import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Whether device tensors may travel through host memory, as the settings say now; asked on every call.
 *
 * <p>The first of three settings that is set at all decides, even by 0: {@code ferro.gpu.fallback},
 * {@code FERRO_ENABLE_GPU_FALLBACK}, and its older name {@code FERROTORCH_ENABLE_GPU_FALLBACK}.
 *
 * @param isOpen    whether they may
 * @param decidedBy name of the setting that decides, null if none is set
 */
public record FallbackGate(boolean isOpen, String decidedBy) {
    private static final List<Setting<Boolean>> FIRST_SET_WINS =
            List.of(Settings.GPU_FALLBACK, Settings.ENABLE_GPU_FALLBACK, Settings.FERROTORCH_ENABLE_GPU_FALLBACK);

    /**
     * Asks.
     *
     * @param context settings
     * @return what they say now
     * @throws IllegalArgumentException if a setting makes no sense
     */
    public static FallbackGate of(RankContext context) {
        Objects.requireNonNull(context, "context");
        for (Setting<Boolean> setting : FIRST_SET_WINS) {
            Optional<Boolean> open = setting.find(context);
            if (open.isPresent()) {
                return new FallbackGate(open.get(), setting.name());
            }
        }
        return new FallbackGate(false, null);
    }
}
