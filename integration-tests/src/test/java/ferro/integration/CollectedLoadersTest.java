package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.integration.ProgramsInLoaders.Ferro;
import ferro.shaded.io.netty.channel.epoll.Epoll;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What runs jobs for many programs, each with a loader of its own, keeps none of them for ferro's sake. */
class CollectedLoadersTest {
    private static final int PATIENCE_SECONDS = 300;

    @TempDir
    private Path folder;

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"OWN, TCP", "OWN, SHM", "OWN, TLS", "SHARED, TCP", "SHARED, SHM", "SHARED, TLS"})
    void theClassLoaderOfAProgramIsCollected(Ferro ferro, Links links) throws Exception {
        String output = run(ferro, UsesFerroInALoader.class, links.name());

        if (links == Links.TLS) {
            // the library of OpenSSL must not be unloaded before the threads that have used it end
            String engine = ferro == Ferro.OWN ? "the JDK" : "OpenSSL";
            assertTrue(output.contains("(TLS 1.3 by " + engine), output);
        }
    }

    @Tag("long")
    @ParameterizedTest
    @EnumSource(
            value = Ferro.class,
            names = {"OWN", "SHARED"})
    void theClassLoaderOfATrainingIsCollected(Ferro ferro) throws Exception {
        run(ferro, TrainsInALoader.class, folder.toString());
    }

    @Test
    @Tag("long")
    void ferroOfTheJvmStillWorksAfterProgramsAreCollected() throws Exception {
        run(Ferro.BESIDE, UsesFerroInALoader.class, Links.TCP.name());
    }

    private String run(Ferro ferro, Class<?> program, String argument) throws Exception {
        List<String> options = new ArrayList<>(List.of("-Xmx256m"));
        if (ferro == Ferro.OWN) {
            // not NIO, which auto takes beside the Netty of this JVM
            options.add("-Dferro.tcp.io=" + (Epoll.isAvailable() ? "epoll" : "nio"));
        }
        List<String> line =
                JavaLine.rank(options, ProgramsInLoaders.class.getName(), ferro.name(), program.getName(), argument);
        try (Child child =
                new Child(new ProcessBuilder(line).redirectErrorStream(true), Duration.ofSeconds(PATIENCE_SECONDS))) {
            return child.ended(0) + "\n";
        }
    }
}
