package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TestClusterTest {
    @TempDir
    private Path folder;

    @Test
    void theTestHomeHasOnlyTheJarsOfThisRun() throws IOException {
        Path jars = folder.resolve("jars");
        String newer = folder.resolve("spark-core-4.2.0.jar").toString();

        TestCluster.linkJars(jars, folder.resolve("spark-core-4.1.1.jar") + File.pathSeparator + newer);
        TestCluster.linkJars(jars, newer + File.pathSeparator + folder.resolve("classes"));

        try (Stream<Path> links = Files.list(jars)) {
            assertEquals(List.of(jars.resolve("spark-core-4.2.0.jar")), links.toList());
        }
    }
}
