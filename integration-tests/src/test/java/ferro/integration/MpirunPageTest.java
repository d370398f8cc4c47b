package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.harness.Child;
import ferro.harness.Jvm;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The commands of docs/launchers/mpirun.md for one host, typed as they stand there, with the program of the first page. */
@Tag("long")
@Timeout(180)
class MpirunPageTest {
    private static final Pattern BLOCK = Pattern.compile("```\n(.*?)```", Pattern.DOTALL);
    private static final Pattern PROGRAM = Pattern.compile("```java\n(import ferro.*?)```", Pattern.DOTALL);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"1, mpirun, mpirun.openmpi, openmpi-bin", "2, mpiexec, mpiexec.hydra, mpich"})
    void theCommandsOfThePageStartFourRanks(int block, String command, String installed, String debianPackage)
            throws Exception {
        String missing = "no " + installed + " here (Debian: " + debianPackage + ")";
        assumeTrue(Child.installed(installed).isPresent(), missing);
        String first = Files.readString(Path.of("../README.md"));
        Files.writeString(
                folder.resolve("Main.java"),
                PROGRAM.matcher(first).results().findFirst().orElseThrow().group(1));
        script(folder.resolve("ferro"), "echo '" + LauncherRun.classPath() + "'");
        Path bin = Files.createDirectory(folder.resolve("bin"));
        script(bin.resolve(command), "exec " + installed + " \"$@\"");

        List<String> blocks = BLOCK.matcher(Files.readString(Path.of("../docs/launchers/mpirun.md")))
                .results()
                .map(found -> found.group(1))
                .toList();
        assertTrue(blocks.get(block).startsWith(command + " "), blocks.get(block));
        String text = typed(blocks.get(0) + blocks.get(block), bin);

        for (int rank = 0; rank < 4; rank++) {
            assertTrue(text.contains("rank " + rank + " of 4 has 10.0 and 100.0"), text);
        }
    }

    private String typed(String lines, Path bin) throws Exception {
        ProcessBuilder builder = new ProcessBuilder("sh", "-e", "-c", lines)
                .directory(folder.toFile())
                .redirectInput(new File("/dev/null"));
        String java = Path.of(Jvm.java()).getParent().toString();
        builder.environment().merge("PATH", bin + ":" + java + ":", (path, mine) -> mine + path);
        // the page says what root types besides
        builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT", "1");
        builder.environment().put("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        return Child.run(0, builder);
    }

    private static void script(Path file, String line) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + line + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
