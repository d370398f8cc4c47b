package ferro.launcher.program;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.message;

import ferro.group.SystemContext;
import ferro.spi.Setting;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The launcher refuses only the settings that a rank refuses as well, so no job ends because of a setting that it does not read. */
@Timeout(60)
class CheckedSettingsTest {
    static List<Setting<?>> ofEveryRank() {
        return CheckedSettings.OF_EVERY_RANK;
    }

    static List<Setting<?>> ofTcp() {
        return CheckedSettings.OF_TCP;
    }

    @ParameterizedTest
    @MethodSource("ofEveryRank")
    void everyRankRefusesAWrongValue(Setting<?> setting) {
        refuses(setting, Map.of("ferro.backend", "simulated", "RANK", "0", "WORLD_SIZE", "1", setting.name(), "soon"));
    }

    @ParameterizedTest
    @MethodSource("ofTcp")
    void everyRankOfTcpRefusesAWrongValue(Setting<?> setting) {
        Map<String, String> settings = Map.of(
                "ferro.backend",
                "tcp",
                "RANK",
                "0",
                "WORLD_SIZE",
                "2",
                "MASTER_ADDR",
                "127.0.0.1",
                "MASTER_PORT",
                "1",
                "FERRO_STORE_SERVED",
                "1",
                setting.name(),
                "soon");
        refuses(setting, settings);
    }

    private static void refuses(Setting<?> setting, Map<String, String> settings) {
        try (SystemContext context = SystemContext.of(settings)) {
            String said = message(IllegalArgumentException.class, context::join);
            assertHas(said, setting.name() + "=soon");
        }
    }
}
