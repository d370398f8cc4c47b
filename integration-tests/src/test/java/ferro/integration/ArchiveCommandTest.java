package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Jvm;
import ferro.launcher.input.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("long")
class ArchiveCommandTest {
    private static final String PROGRAM = JoinsFromAFatJar.class.getName();

    @TempDir
    private Path folder;

    private Path jar;

    @BeforeEach
    void makeTheProgram() throws Exception {
        jar = folder.resolve("program.jar");
        FatJar.write(jar, FatJar.Kept.FIRST);
    }

    @Test
    void ranksTakeTheClassesOfFerroFromTheArchive() throws Exception {
        Path archive = folder.resolve("program.jsa");
        String option;
        try (LauncherRun run = archive(archive, jar)) {
            assertEquals(ExitCode.OK, run.exitCode(), run::toString);
            List<String> said = run.outLines();
            String start = said.get(said.size() - 1);
            assertTrue(start.matches("  java -XX:[A-Za-z]+=" + archive + " -cp " + jar + " " + PROGRAM), run::toString);
            option = start.split(" +")[2];
        }
        Path loaded = folder.resolve("loaded-%p");

        String log = "-Xlog:class+load:file=" + loaded;
        try (LauncherRun run =
                LauncherRun.start("run", "-n", "2", "--", Jvm.java(), option, log, "-cp", jar.toString(), PROGRAM)) {
            assertEquals(ExitCode.OK, run.exitCode(), run::toString);
        }

        List<Path> logs;
        try (var files = Files.list(folder)) {
            logs = files.filter(file -> file.getFileName().toString().startsWith("loaded-"))
                    .toList();
        }
        assertEquals(2, logs.size(), "logs of ranks");
        for (Path one : logs) {
            String classes = Files.readString(one);
            assertTrue(classes.contains(" ferro.group.ProcessGroup source: shared objects file"), "log of classes");
        }
    }

    @Test
    void aFolderOnTheClassPathIsRefusedBeforeAnyRankStarts() throws Exception {
        Path archive = folder.resolve("program.jsa");
        try (LauncherRun run = archive(archive, folder)) {
            assertEquals(ExitCode.BAD_INPUT, run.exitCode(), run::toString);
            assertEquals(
                    "ferro archive: -cp " + folder + " is a folder: an archive of the JVM holds classes of jars only,"
                            + " so put the classes into a jar",
                    run.errText());
            assertTrue(Files.notExists(archive), "no archive");
        }
    }

    @Test
    void aJarOfTheClassPathIsNotOverwritten() throws Exception {
        long size = Files.size(jar);
        try (LauncherRun run = archive(jar, jar)) {
            assertEquals(ExitCode.BAD_INPUT, run.exitCode(), run::toString);
        }
        assertEquals(size, Files.size(jar), "bytes of the jar");
    }

    @Test
    void anEarlierArchiveStaysIfTheJobFails() throws Exception {
        Path archive = Files.writeString(folder.resolve("program.jsa"), "earlier");
        String failing = FailsInOneRank.class.getName();
        try (LauncherRun run =
                LauncherRun.start("archive", "-cp", jar.toString(), "--to", archive.toString(), failing)) {
            assertNotEquals(ExitCode.OK, run.exitCode(), run::toString);
        }
        try (var files = Files.list(folder)) {
            assertEquals(Set.of(jar, archive), files.collect(Collectors.toSet()));
        }
        assertEquals("earlier", Files.readString(archive));
    }

    private static LauncherRun archive(Path archive, Path classPath) throws Exception {
        return LauncherRun.start("archive", "-cp", classPath.toString(), "--to", archive.toString(), PROGRAM);
    }
}
