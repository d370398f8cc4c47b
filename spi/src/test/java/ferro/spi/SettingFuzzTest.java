package ferro.spi;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Texts that Jazzer makes up, as values of every setting. */
class SettingFuzzTest {
    static Stream<byte[]> values() {
        return Stream.of("1", "64MiB", "2s", "29500-29599", "auto", "true", "10.0.0.1:29500", "-1", "1e9", "")
                .map(text -> text.getBytes(StandardCharsets.UTF_8));
    }

    @MethodSource("values")
    @FuzzTest(maxDuration = "1m")
    void anyValueIsReadOrRefusedWithTheNameOfTheSetting(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        for (Setting<?> setting : Settings.all()) {
            try {
                assertTrue(setting.read(text) != null, setting.name());
            } catch (IllegalArgumentException refused) {
                assertTrue(("" + refused.getMessage()).contains(setting.name()), "" + refused.getMessage());
            }
        }
    }
}
