package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where epoll cannot work, the ranks of a host say once what differs, unless that was asked for. */
class WithoutEpollTest {
    @ParameterizedTest
    @CsvSource({"auto, 1", "nio, 0"})
    @Tag("long")
    void withoutEpollOneWarningDescribesTheDifference(String io, int warnings) throws Exception {
        LauncherRun run = LauncherRun.words(
                        Map.of("JAVA_TOOL_OPTIONS", "-Dferro.shaded.io.netty.transport.noNative=true"),
                        "run -n 2 -J-Dferro.links=tcp -J-Dferro.tcp.io=" + io + " " + SumsOnAnyJdk.class.getName())
                .ends(0);
        List<String> said = run.errLines().stream()
                .filter(line -> line.contains("NIO polls the sockets, because epoll cannot work here ("))
                .toList();
        assertEquals(warnings, said.size(), run::errText);
        assertTrue(said.stream().allMatch(line -> line.contains("ferro.tcp.congestion has no effect")), run::errText);
    }
}
