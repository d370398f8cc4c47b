package ferro.launcher.program;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.message;

import ferro.group.SystemContext;
import ferro.spi.Setting;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The launcher refuses only the settings that a rank refuses as well, so no job ends because of a setting that it does not read. */
@Timeout(60)
class SettingsCheckTest {
    static List<Setting<?>> ofEveryRank() {
        return SettingsCheck.OF_EVERY_RANK;
    }

    static List<Setting<?>> ofTcp() {
        return SettingsCheck.OF_TCP;
    }

    @ParameterizedTest
    @MethodSource("ofEveryRank")
    void everyRankRefusesAWrongValue(Setting<?> setting) {
        refuses(setting, "simulated", "1", Map.of());
    }

    @ParameterizedTest
    @MethodSource("ofTcp")
    void everyRankOfTcpRefusesAWrongValue(Setting<?> setting) {
        refuses(setting, "tcp", "2", Map.of("MASTER_ADDR", "127.0.0.1", "MASTER_PORT", "1", "FERRO_STORE_SERVED", "1"));
    }

    private static void refuses(Setting<?> setting, String backend, String worldSize, Map<String, String> store) {
        Map<String, String> settings = new HashMap<>(store);
        settings.putAll(Map.of("ferro.backend", backend, "RANK", "0", "WORLD_SIZE", worldSize, setting.name(), "soon"));
        try (SystemContext context = SystemContext.of(settings)) {
            assertHas(message(IllegalArgumentException.class, context::join), setting.name() + "=soon");
        }
    }
}
