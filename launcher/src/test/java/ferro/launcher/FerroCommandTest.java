package ferro.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FerroCommandTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "run -n 0 -- true | ferro run: -n 0: need a number of ranks",
                "run -n many -- true | ferro run: Invalid value for option '--ranks': 'many' is not an int",
                "run --nod 3 -- true | ferro run: Unknown option: '--nod'",
                "run -n 2 | ferro run: nothing to run",
                "run -n 2 -- | ferro run: nothing to run",
                "run -n 2 Nothing.java | Nothing.java not found",
                "run -n 2 no.such.Main | ferro run: main class \"no.such.Main\" not found",
                "run -n 2 -- no-such-command | ferro run: command \"no-such-command\" not found",
                "run --nodes 2 -- true | ferro run: --nodes 2 needs --master",
                "run --nodes 2 --master h:1 -- true | ferro run: --nodes 2 needs --secret-file",
                "run --master nowhere -- true | ferro run: --master nowhere: need host:port",
                "run --log-dir /proc/none -- true | ferro run: --log-dir /proc/none",
                "run --master no-such-host.invalid:1 -- true | ferro run: --master no-such-host.invalid:1: no address",
                "jump | Unmatched argument",
                "'' | need a command",
            })
    void badInputIsExplainedAndNothingIsStarted(String typed, String part) {
        int code = execute(typed.isEmpty() ? new String[0] : typed.split(" "));

        String said = err.toString(StandardCharsets.UTF_8);
        assertEquals(2, code, said);
        assertTrue(said.contains(part), said);
        assertEquals(false, said.contains("cores, backend"), said);
    }

    @Test
    void placeOfTheStoreThatIsTakenIsAMessageAndNoTrace() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String master = "127.0.0.1:" + taken.getLocalPort();

            int code = execute("run", "--master", master, "--", "true");

            String said = err.toString(StandardCharsets.UTF_8);
            assertEquals(1, code, said);
            assertTrue(said.startsWith("ferro run: ") && said.contains(master), said);
            assertEquals(1, said.lines().count(), said);
        }
    }

    @Test
    void printedClassPathIsAbsolute() {
        assertEquals(0, execute("classpath"));

        for (String entry : out.toString(StandardCharsets.UTF_8).trim().split(File.pathSeparator)) {
            assertTrue(entry.startsWith("/"), entry);
        }
    }

    private int execute(String... arguments) {
        Screen screen = new Screen(new Screen.Channel(out, false), new Screen.Channel(err, false));
        PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
        return FerroCommand.commandLine(new World(Map.of("PATH", "/usr/bin:/bin"), screen, print))
                .execute(arguments);
    }
}
