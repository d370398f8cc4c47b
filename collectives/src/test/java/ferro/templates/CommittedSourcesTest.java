package ferro.templates;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is made from a template and committed, for readers, is what the template makes. */
class CommittedSourcesTest {
    private static final Path SOURCES = Path.of("src/main/java");

    @TempDir
    Path classes;

    @TempDir
    Path made;

    @Test
    void arrayFormsAreWhatTheirTemplateMakes() throws IOException {
        Path template = Expander.TEMPLATES.resolve("array-forms.template");
        new Expander(classes).expand(template, made);
        List<Path> files = filesOf(made);
        assertEquals(
                List.of(
                        Path.of("ferro/group/ArrayForms.java"),
                        Path.of("ferro/group/ArrayMessages.java"),
                        Path.of("ferro/group/AsyncArrayForms.java"),
                        Path.of("ferro/group/AsyncRootedArrayForms.java"),
                        Path.of("ferro/group/RootedArrayForms.java"),
                        Path.of("ferro/group/ScanArrayForms.java")),
                files);
        for (Path file : files) {
            assertEquals(
                    Files.readString(made.resolve(file)),
                    Files.readString(SOURCES.resolve(file)),
                    file + " differs from what " + template + " makes: change the template, then run java "
                            + Expander.TEMPLATES.resolve("Expand.java") + " " + template + " " + SOURCES);
        }
    }

    private static List<Path> filesOf(Path folder) throws IOException {
        try (Stream<Path> found = Files.walk(folder)) {
            return found.filter(Files::isRegularFile)
                    .map(folder::relativize)
                    .sorted()
                    .toList();
        }
    }
}
