package ferro.integration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The Java files of the product, as the checkout has them. */
public final class MainSources {
    private MainSources() {}

    /** Returns all files of the modules with such a name in {@code src/main/java}, and what the build makes of templates. */
    public static List<Path> of(Predicate<String> module) throws IOException {
        List<Path> sources = new ArrayList<>();
        for (Path parent : List.of(Path.of(".."), Path.of("../adapters"))) {
            try (Stream<Path> folders = Files.list(parent)) {
                for (Path folder : folders.filter(
                                path -> module.test(path.getFileName().toString()))
                        .flatMap(path -> Stream.of("src/main/java", "target/generated-sources/templates")
                                .map(path::resolve))
                        .filter(Files::isDirectory)
                        .toList()) {
                    try (Stream<Path> files = Files.walk(folder)) {
                        files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
                    }
                }
            }
        }
        return sources;
    }
}
