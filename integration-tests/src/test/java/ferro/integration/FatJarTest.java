package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Jvm;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Programs in one jar, made of many, run whichever files of META-INF/services the tool has kept. */
@Tag("long")
class FatJarTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"FIRST, SHM", "LAST, TCP", "NONE, TCP", "NONE, SHM"})
    void twoProcessesRunFromOneFatJar(FatJar.Kept kept, Links links) throws Exception {
        Path jar = folder.resolve("fat.jar");
        FatJar.write(jar, kept);
        String program = JoinsFromAFatJar.class.getName();
        LauncherRun run = LauncherRun.words(
                        Map.of("FERRO_LINKS", links.toString()),
                        "run -n 2 -- " + Jvm.java() + " -XX:TieredStopAtLevel=1 -cp " + jar + " " + program)
                .ends(0);
        List<String> lines = run.after("[1]");
        int last = lines.size() - 1;
        assertEquals(JoinsFromAFatJar.backEnds(), lines.subList(0, last));
        assertTrue(lines.get(last).startsWith("sum 2: "), run::toString);
        links.assertFoundIn(lines.get(last).substring("sum 2: ".length()), 2);
    }
}
