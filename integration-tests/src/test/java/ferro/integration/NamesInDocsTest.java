package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * The names of types and members that the pages quote against the sources. A page quotes a name as code: {@code Work},
 * {@code Fault.Crash}, {@code DiagnosisRows#abort}. Decisions and the change log are history, and are left out.
 */
@Tag("text")
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // reads the sources once
class NamesInDocsTest {
    /** A word that begins like a type and has a small letter, then members. */
    private static final Pattern NAME =
            Pattern.compile("(?:[a-z][a-z0-9]*\\.)*([A-Z]\\w*[a-z]\\w*)((?:[.#][A-Za-z]\\w*)*)(?:\\(.*\\))?");

    private static final Pattern BLOCK = Pattern.compile("```.*?```", Pattern.DOTALL);
    private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
    private static final Pattern WORD = Pattern.compile("\\w+");
    private static final Pattern DECLARED = Pattern.compile("\\b(?:class|interface|enum|record) ([A-Z]\\w*)");
    /** What may stand before it. A private type does not count: a reader of the page cannot use it. */
    private static final Pattern MODIFIERS = Pattern.compile("[ \t]*(?:(?!private )[a-z-]+ )*@?");

    private static final String OF_MPI = "MPI_";

    /** Types of the JDK, Spark, DJL and Guava, and words that look like a type. */
    private static final Set<String> OF_OTHERS = Set.of("""
            Arena CompletionStage Dataset EasyTrain False GradientCollector IllegalArgumentException
            IllegalStateException InetAddresses JavaRDD Math MemorySegment NullPointerException ObjectInputStream
            SequentialBlock SparkSubmit System TestClass Unsafe UnsupportedOperationException
            """.split("\\s+"));

    private final Map<String, List<String>> sourcesByType = new HashMap<>();

    NamesInDocsTest() throws IOException {
        for (Path source : Stream.of(Checkout.endingWith(".java"), MainSources.of(module -> true))
                .flatMap(List::stream)
                .toList()) {
            String text = Files.readString(source);
            add(source.getFileName().toString().replace(".java", ""), text);
            DECLARED.matcher(text).results().forEach(type -> {
                String before = text.substring(text.lastIndexOf('\n', type.start()) + 1, type.start());
                if (MODIFIERS.matcher(before).matches()) {
                    add(type.group(1), text);
                }
            });
        }
        assertTrue(sourcesByType.size() > 1500, "found only " + sourcesByType.size() + " types");
    }

    private void add(String type, String text) {
        sourcesByType.computeIfAbsent(type, none -> new ArrayList<>()).add(text);
    }

    @Test
    void everyQuotedTypeAndMemberExists() throws IOException {
        List<Path> pages = Checkout.endingWith(".md").stream()
                .filter(page -> page.startsWith("../docs") || page.getNameCount() == 2)
                .filter(page -> !page.startsWith("../docs/decisions") && !page.endsWith("CHANGELOG.md"))
                .toList();
        Set<String> unknown = new TreeSet<>();
        int seen = 0;
        for (Path page : pages) {
            String text = BLOCK.matcher(Files.readString(page)).replaceAll("");
            for (MatchResult code : CODE.matcher(text).results().toList()) {
                seen += NAME.matcher(code.group(1)).matches() ? 1 : 0;
                if (!isKnown(code.group(1))) {
                    unknown.add(page.getFileName() + ": " + code.group(1));
                }
            }
        }

        assertEquals(Set.of(), unknown, "names on the pages that no source has");
        assertTrue(seen > 500, "found only " + seen + " names");
    }

    @Test
    void aQuotedNameThatDoesNotExistIsFound() {
        assertEquals(
                List.of(true, true, true, true, true),
                Stream.of(
                                "Fault.Crash",
                                "ferro.backend.simulated.Fault",
                                "ProcessGroup.join()",
                                "TIMED_OUT",
                                "Math.fma")
                        .map(this::isKnown)
                        .toList());
        assertEquals(
                List.of(false, false, false, false),
                Stream.of("Cut", "Fault.Cut", "ProcessGroup.shrink(int)", "NamesInDocsTest#andNoSuch" + "Test")
                        .map(this::isKnown)
                        .toList());
    }

    private boolean isKnown(String code) {
        Matcher name = NAME.matcher(code);
        if (!name.matches() || OF_OTHERS.contains(name.group(1)) || code.startsWith(OF_MPI)) {
            return true;
        }
        List<String> sources = sourcesByType.getOrDefault(name.group(1), List.of());
        List<String> members =
                WORD.matcher(name.group(2)).results().map(MatchResult::group).toList();
        return sources.stream().anyMatch(text -> members.stream().allMatch(member -> hasWord(text, member)));
    }

    private static boolean hasWord(String text, String word) {
        return Pattern.compile("\\b" + word + "\\b").matcher(text).find();
    }
}
