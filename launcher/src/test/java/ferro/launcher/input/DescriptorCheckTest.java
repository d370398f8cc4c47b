package ferro.launcher.input;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DescriptorCheckTest {
    @Test
    void aJobThatNeedsTooManyFilesIsRefusedWithBothNumbers() {
        DescriptorCheck few = new DescriptorCheck(OptionalLong.of(64), 26);

        few.check(new Placement(5, 1, 0));
        String said = message(BadInputException.class, () -> few.check(new Placement(8, 1, 0)));

        assertEquals(
                "a job of 8 ranks, 8 of them on this host, needs about 76 open files per process, but may have only 64: raise the"
                        + " limit (ulimit -n 1024), or start fewer ranks",
                said);
        String many = message(BadInputException.class, () -> few.check(new Placement(1, 4096, 7)));
        assertHas(many, "needs about 8242 open files", "ulimit -n 32768");
    }

    @Test
    void everyJarOnTheClassPathIsCounted(@TempDir Path folder) throws IOException {
        String jar = Files.createFile(folder.resolve("a.jar")).toString();
        int jars = DescriptorCheck.jarsOn(String.join(File.pathSeparator, jar, folder.toString(), jar + "absent"));

        assertEquals(1, jars);
        Placement two = new Placement(2, 1, 0);
        new DescriptorCheck(OptionalLong.of(55), 26 + jars).check(two);
        DescriptorCheck few = new DescriptorCheck(OptionalLong.of(64), 44);
        String said = message(BadInputException.class, () -> few.check(two));
        assertHas(said, "needs about 72 open files");
    }

    @Test
    void theCompilerNeedsEveryJarAgain() {
        DescriptorCheck few = new DescriptorCheck(OptionalLong.of(64), 32);

        few.check(new Placement(2, 1, 0));
        few.checkCompiler(Path.of("Main.java"), 26);
        String said = message(BadInputException.class, () -> few.checkCompiler(Path.of("Main.java"), 32));
        assertEquals(
                "compiling Main.java needs about 76 open files per process, but may have only 64: raise the limit"
                        + " (ulimit -n 1024), or give the name of a compiled class",
                said);
        assertEquals(Optional.empty(), new DescriptorCheck(OptionalLong.of(76), 32).shortForCompiler());
        assertTrue(few.shortForCompiler().isPresent());
    }

    @Test
    void withoutALimitNoJobIsRefused() {
        new DescriptorCheck(OptionalLong.empty(), 26).check(new Placement(4096, 1, 0));
        assertEquals("no limit known", new DescriptorCheck(OptionalLong.empty(), 26).text());
    }

    @Test
    void theDoctorReportsForHowManyRanksTheLimitIsEnough() {
        assertEquals(
                "at most 1024 per process, enough for about 245 ranks on this host (ulimit -n)",
                new DescriptorCheck(OptionalLong.of(1024), 26).text());
        assertHas(new DescriptorCheck(OptionalLong.of(20), 26).text(), "enough for about 0 ranks");
        assertTrue(DescriptorCheck.ofThisProcess().limit().isPresent(), "Linux says it");
    }
}
