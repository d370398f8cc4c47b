package ferro.djl.page;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.djl.RankJvms;
import ferro.harness.Child;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DjlPageTest {
    private static final Pattern SHOWN = Pattern.compile("(?ms)^```java\\R(.*?)^```$");
    private static final Pattern REGION = Pattern.compile("(?ms)^ *// @start region=\"\\w+\"\\R(.*?)^ *// @end\\R");

    @TempDir
    private Path folder;

    @Test
    void eachSnippetOnThePageIsARegionOfTestedCode() throws IOException {
        List<String> regions = found(REGION, Path.of("src/test/java/ferro/djl/page/PageSnippets.java"));

        assertEquals(regions, found(SHOWN, Path.of("../../docs/djl.md")));
    }

    private static List<String> found(Pattern pattern, Path file) throws IOException {
        return pattern.matcher(Files.readString(file))
                .results()
                .map((MatchResult one) -> one.group(1).stripTrailing().stripIndent())
                .toList();
    }

    @Test
    void thePageProgramTrainsEqualReplicas() throws Exception {
        List<Child> ranks = RankJvms.run(2, PageSnippets.class, folder);

        assertEquals(1, ranks.get(0).after("trained").size(), ranks::toString);
        assertEquals(ranks.get(0).after("trained"), ranks.get(1).after("trained"));
        assertEquals(1, ranks.get(0).after("staged").size(), ranks::toString);
        assertEquals(ranks.get(0).after("staged"), ranks.get(1).after("staged"));
        assertEquals(List.of("2"), ranks.get(0).after("uneven"));
        assertEquals(List.of("step 4, epoch 1"), ranks.get(0).after("loaded"));
    }
}
