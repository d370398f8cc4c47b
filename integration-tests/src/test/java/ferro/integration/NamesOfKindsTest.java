package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.CollectiveKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Contracts, engine and back ends tell kinds of collectives apart by {@link CollectiveKind}, never by text. */
class NamesOfKindsTest {
    private static final Pattern NAME = Pattern.compile(Arrays.stream(CollectiveKind.values())
            .map(CollectiveKind::label)
            .collect(Collectors.joining("|", "\"(", ")\"")));

    @Test
    void standInTheEnumAlone() throws IOException {
        List<String> files = new ArrayList<>();
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            for (Path module : modules.filter(NamesOfKindsTest::isProduct).toList()) {
                addNaming(module.resolve("src/main/java"), files);
            }
        }
        assertEquals(List.of("CollectiveKind.java"), files);
    }

    private static boolean isProduct(Path module) {
        String name = module.getFileName().toString();
        return name.equals("spi") || name.equals("collectives") || name.startsWith("backend-");
    }

    private static void addNaming(Path sources, List<String> files) throws IOException {
        try (Stream<Path> all = Files.walk(sources)) {
            for (Path file :
                    all.filter(path -> path.toString().endsWith(".java")).toList()) {
                if (NAME.matcher(Files.readString(file)).find()) {
                    files.add(file.getFileName().toString());
                }
            }
        }
    }
}
