package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A Spark installation has a Guava and a Gson of its own, which ferro must not depend on. */
class LibrariesBesideSparkTest {
    private static final Pattern TYPE = Pattern.compile("com/google/(common|gson)/[A-Za-z/]+");

    @Test
    void ferroInSparkNeedsNeitherGuavaNorGson() throws Exception {
        Set<String> needed = new TreeSet<>();
        for (Class<?> one : List.of(
                ferro.group.ProcessGroup.class,
                ferro.spi.PortRange.class,
                ferro.backend.tcp.TcpStoreServer.class,
                Class.forName("ferro.backend.shm.ShmBackendProvider"),
                ferro.training.checkpoint.CheckpointStorage.class,
                FerroSpark.class)) {
            needed.addAll(needed(one));
        }

        assertEquals(Set.of(), needed);
    }

    private static Set<String> needed(Class<?> one) throws IOException, URISyntaxException {
        Path location =
                Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
        if (Files.isDirectory(location)) {
            return types(location);
        }
        try (FileSystem jar = FileSystems.newFileSystem(location)) {
            return types(jar.getPath("/"));
        }
    }

    private static Set<String> types(Path root) throws IOException {
        Set<String> found = new TreeSet<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file :
                    files.filter(name -> name.toString().endsWith(".class")).toList()) {
                if (file.endsWith("module-info.class")) {
                    continue;
                }
                Matcher types = TYPE.matcher(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
                while (types.find()) {
                    found.add(types.group());
                }
            }
        }
        return found;
    }
}
