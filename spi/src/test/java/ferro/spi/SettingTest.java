package ferro.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingTest {

    private static TestContext given(String name, String value) {
        return new TestContext().with(name, value);
    }

    @Test
    void aJobIdOfMoreThan64BytesIsRefusedWithItsLength() {
        assertEquals("j".repeat(64), Settings.JOB_ID.of(given("FERRO_JOB_ID", "j".repeat(64))));

        String message = assertThrows(
                        IllegalArgumentException.class,
                        () -> Settings.JOB_ID.of(given("FERRO_JOB_ID", "\u00f6".repeat(33))))
                .getMessage();

        assertTrue(message.endsWith("need a name of at most 64 bytes (66 bytes in UTF-8)"), message);
        assertTrue(message.startsWith("FERRO_JOB_ID="), message);
    }

    @Test
    void timesHaveTheirUnitInTheValue() {
        assertEquals(Duration.ofMillis(500), Settings.TIMEOUT.of(given("ferro.timeout", "500ms")));
        assertEquals(Duration.ofSeconds(3), Settings.TIMEOUT.of(given("ferro.timeout", " 3s ")));
        assertEquals(Duration.ofMinutes(2), Settings.TIMEOUT.of(given("ferro.timeout", "2m")));
        assertEquals(Duration.ofSeconds(120), Settings.TIMEOUT.of(new TestContext()));
    }

    @Test
    void sizesHaveTheirUnitInTheValue() {
        assertEquals(4096, Setting.bytes("4096"));
        assertEquals(65536, Setting.bytes("64KiB"));
        assertEquals(3L << 30, Setting.bytes("3GiB"));
    }

    @Test
    void anInvalidValueIsRefusedWithTheSettingAndTheNeededForm() {
        for (String nonsense : List.of("3", "s", "abc", "0s", "-3s", "3 weeks", "")) {
            IllegalArgumentException refusal = assertThrows(
                    IllegalArgumentException.class, () -> Settings.TIMEOUT.of(given("ferro.timeout", nonsense)));
            assertTrue(refusal.getMessage().contains("ferro.timeout=" + nonsense), refusal.getMessage());
            assertTrue(refusal.getMessage().contains("500ms"), refusal.getMessage());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ferro.timeout | soon | the text must begin with a number that is 0 or more, found \"soon\"",
                "ferro.timeout | 0s | \"0s\" is zero: a timeout must be more than zero",
                "ferro.timeout | 3 weeks | the unit must be ms, s, m or h, found \"weeks\"",
                "ferro.timeout | 9223372036854775807h | the time is too long",
                "ferro.timeout | 92233720368547758070s | the largest number is 9223372036854775807",
                "ferro.segment | some | the text must begin with a number that is 0 or more, found \"some\"",
                "ferro.segment | 64KB | the unit must be B, KiB, MiB or GiB, found \"KB\"",
                "ferro.segment | 9223372036854775807GiB | the size is more than 2^63 - 1 bytes",
                "ferro.links | wire | \"wire\" is no kind of link",
                "ferro.job.dir | shm | \"shm\" is relative",
                "ferro.cudart.library | ./x | the current directory is never searched, found \"./x\"",
                "ferro.tcp.port | ferro | need digits, with a hyphen between two ports, found \"ferro\"",
                "ferro.tcp.port | 20015-20000 | the range ends at 20000, below its first port 20015",
                "ferro.tcp.port | 0-16 | a range must begin at 1 or above, found 0 to 16",
                "ferro.tcp.port | 65530-65540 | the largest port is 65535 and the smallest 0, found 65530 and 65540",
                "ferro.tcp.interface | eth0,,lo | a name in \"eth0,,lo\" is empty",
                "ferro.tcp.interface | eth0,^lo | ^ is allowed once, at the start of a list of exclusions, found \"^lo\"",
                "ferro.tcp.interface | eth0/8 | a network must be an address, a slash and a number of bits, found eth0/8",
                "ferro.tcp.interface | 10.0.0.0/33 | a network has at most 32 bits, found 10.0.0.0/33",
                "ferro.tcp.interface | 10.0.0.0/all | the text must begin with a number that is 0 or more, found \"all\"",
                "ferro.recorder.entries | all | the text must begin with a number that is 0 or more, found \"all\"",
                "ferro.recorder.entries | -1 | the text must begin with a number that is 0 or more, found \"-1\"",
                "ferro.recorder.entries | 3000000000 | the largest number is 2147483647",
            })
    void theReasonOfARefusalIsExplainedInWords(String name, String value, String why) {
        TestContext given = given(name, value);
        Setting<?> setting = Settings.all().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();

        String message = assertThrows(IllegalArgumentException.class, () -> setting.of(given))
                .getMessage();

        assertTrue(message.startsWith(name + "=" + value + ": need "), message);
        assertTrue(message.endsWith(" (" + why + ")"), message);
    }

    @Test
    void anInvalidNumberIsRefusedWithoutTheTextOfTheJdk() {
        String message = assertThrows(
                        IllegalArgumentException.class, () -> Settings.RANK.of(given("ferro.rank", "first")))
                .getMessage();

        assertEquals("ferro.rank=first: need a rank from 0", message);
    }

    // @start region="setting"
    @Test
    void aMissingSettingNamesPropertyAndVariable() {
        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> Settings.RANK.of(new TestContext()));
        assertTrue(refusal.getMessage().contains("-Dferro.rank"), refusal.getMessage());
        assertTrue(refusal.getMessage().contains("FERRO_RANK"), refusal.getMessage());
    }
    // @end

    /** A JVM reads no variable as a property. */
    @Test
    void aSettingThatIsOnlyAVariableIsAdvisedWithoutAProperty() {
        for (Setting<?> setting : Settings.all()) {
            if (setting.fallback().isEmpty()) {
                String message = assertThrows(IllegalArgumentException.class, () -> setting.of(new TestContext()))
                        .getMessage();
                boolean onlyVariable = setting.name().equals(setting.variable());
                String ways = onlyVariable
                        ? "; set the variable " + setting.name()
                        : "; set -D" + setting.name() + "=... or the variable " + setting.variable();
                assertEquals(setting.name() + " is not set: need " + setting.need() + ways, message);
            }
        }
    }

    @Test
    void aFlagIsOffForEachWordForNo() {
        for (String no : List.of("0", "false", "False", "no")) {
            assertFalse(Settings.STORE_SERVED.of(given("FERRO_STORE_SERVED", no)), no);
        }
        assertTrue(Settings.STORE_SERVED.of(given("FERRO_STORE_SERVED", "1")));
    }

    @Test
    void aLibraryMustBeAnAbsolutePathOrAPlainName() {
        for (String good : List.of("/opt/nccl/libnccl.so.2", "libnccl.so.2", "nccl")) {
            assertEquals(good, Settings.NCCL_LIBRARY.of(given("ferro.nccl.library", good)));
        }
        for (String bad : List.of("./libnccl.so.2", "../x", "lib/libnccl.so.2", "libnccl.so.2/", "")) {
            String message = assertThrows(
                            IllegalArgumentException.class,
                            () -> Settings.CUDART_LIBRARY.of(given("ferro.cudart.library", bad)))
                    .getMessage();
            assertTrue(message.contains("ferro.cudart.library=" + bad), message);
            assertTrue(message.contains("an absolute path or a plain library name"), message);
            assertTrue(message.contains("the current directory is never searched"), message);
        }
    }

    /** One that is not listed is read from nowhere. */
    @Test
    void everySettingOfTheClassIsListed() throws IllegalAccessException {
        for (Field field : Settings.class.getFields()) {
            assertTrue(Settings.all().contains(field.get(null)), "Settings.all() lacks " + field.getName());
        }
    }

    @Test
    void thePageHasTheVariableOfEverySetting() throws IOException {
        String page = Files.readString(Path.of("../docs/configuration.md"));
        for (Setting<?> setting : Settings.all()) {
            boolean bare = setting.name().equals(setting.variable());
            String row = (bare ? "\n| " : "\n| `" + setting.name() + "` ") + "| `" + setting.variable() + "` | ";
            assertTrue(page.contains(row), "docs/configuration.md lacks " + row);
        }
    }
}
