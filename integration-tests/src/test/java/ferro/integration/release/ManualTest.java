package ferro.integration.release;

import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@Tag("long")
@EnabledOnOs(OS.LINUX)
class ManualTest {
    /** Asks the completion for the last of its arguments. */
    private static final String ASKING =
            "source \"$0\"; COMP_WORDS=(ferro \"$@\"); COMP_CWORD=$#; COMP_LINE=\"ferro $*\";"
                    + " COMP_POINT=${#COMP_LINE}; _complete_ferro; printf '%s\\n' \"${COMPREPLY[@]}\"";

    @TempDir
    private static Path shared;

    private static Distribution ferro;

    @TempDir
    private Path work;

    @BeforeAll
    static void unpack() throws Exception {
        Path outputs = Files.createDirectory(shared.resolve("work"));
        ferro = Distribution.unpacked(Distribution.archive(".tar.gz"), shared.resolve("tools"), outputs);
    }

    @Test
    void fileNamesAreCompletedAfterRunAndClassPath() throws Exception {
        Files.createFile(work.resolve("Main.java"));
        Files.createFile(work.resolve("Makefile"));
        Files.createDirectory(work.resolve("classes"));

        assertEquals(Set.of("Main.java", "Makefile"), completed("run", "Ma"));
        assertEquals(Set.of("Main.java"), completed("run", "-n", "2", "-J-Xmx2g", "Mai"));
        assertEquals(Set.of("Makefile"), completed("run", "Main.java", "Mak"));
        assertEquals(Set.of("classes"), completed("run", "-cp", "cla"));
    }

    @Test
    void valuesOfLinksAndBackendAreCompleted() throws Exception {
        for (String command : List.of("run", "bench")) {
            assertEquals(Set.of("auto", "tcp", "shm"), completed(command, "--links", ""));
            assertTrue(completed(command, "--backend", "").contains("nccl"), command);
        }
    }

    @Test
    void thePageOfRunHasNotesExitCodesAndPlainHyphens() throws IOException {
        String page = page("ferro-run");

        assertSays(
                page,
                "| main class | \\-\\- command) [ARGUMENTS]\n",
                "\\fB\\-J\\fP\\fIOPTION\\fP\n",
                ".SH \"NOTES\"\n",
                "The exit code is that of the rank that failed first",
                "\nferro run \\-n 4 \\-\\- ./program one two");
    }

    @Test
    void everyPageHasExitCodesAndADateWithoutATime() throws IOException {
        try (Stream<Path> pages = Files.list(ferro.root().resolve("share/man/man1"))) {
            for (Path file : pages.toList()) {
                String page = Files.readString(file);
                assertTrue(page.matches("(?s).*\n\\.TH \"[A-Z\\\\-]+\" \"1\" \"[0-9]{4}-[0-9]{2}-[0-9]{2}\" .*"), page);
                assertSays(page, ".SH \"EXIT STATUS\"\n", "the input was wrong\n");
            }
        }
    }

    private static String page(String name) throws IOException {
        return Files.readString(ferro.root().resolve("share/man/man1/" + name + ".1"));
    }

    private Set<String> completed(String... words) throws Exception {
        List<String> line = new ArrayList<>(List.of("bash", "-c", ASKING));
        line.add(ferro.root().resolve("share/bash-completion/completions/ferro").toString());
        line.addAll(List.of(words));
        Distribution.Run run = ferro.command(Path.of(System.getProperty("java.home")), Map.of(), work, line)
                .endedWith(0);
        Set<String> offered = new TreeSet<>(List.of(run.out().split("\n")));
        offered.remove("");
        return offered;
    }
}
