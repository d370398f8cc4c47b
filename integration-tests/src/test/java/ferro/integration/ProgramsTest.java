package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.harness.Jvm;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class ProgramsTest {
    @Test
    void jvmsUseClassArchivesIfTheBuildMadeJars() throws IOException, InterruptedException {
        assumeTrue(Jvm.classPath().contains("ferro-launcher-"), "mvn test makes folders of classes");
        assertEquals(2, JavaLine.archivedRank().size(), "options of a rank");
        try (LauncherRun run =
                LauncherRun.start("run", "-n", "1", "-J-Xlog:class+load", "ferro.examples.hello.HelloAllReduce")) {
            String loaded = String.join("\n", run.ends(0).outLines());
            assertTrue(loaded.contains("ferro.group.ProcessGroup source: shared objects file (top)"), run::toString);
        }
    }
}
