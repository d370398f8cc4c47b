package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.CollectiveKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Contracts, engine and back ends tell kinds of collectives apart by {@link CollectiveKind}, never by text. */
class NamesOfKindsTest {
    private static final Pattern NAME = Pattern.compile(Arrays.stream(CollectiveKind.values())
            .map(CollectiveKind::label)
            .collect(Collectors.joining("|", "\"(", ")\"")));

    /** A kind of collective in a switch. One file has operations of NCCL. */
    private static final Pattern CASE = Pattern.compile(Arrays.stream(CollectiveKind.values())
            .map(Enum::name)
            .collect(Collectors.joining("|", "case\\s+(?:[A-Z_]+,\\s+)*(?:", ")\\b")));

    @Test
    void namesOfKindsAppearOnlyInTheEnum() throws IOException {
        assertEquals(List.of("CollectiveKind.java"), filesWith(NAME));
    }

    @Test
    void onlyTheAlgorithmTableAndNcclSwitchOverKinds() throws IOException {
        assertEquals(List.of("AlgorithmChooser.java", "NativeCaller.java"), filesWith(CASE));
    }

    private static List<String> filesWith(Pattern text) throws IOException {
        List<String> files = new ArrayList<>();
        for (Path file : MainSources.of(NamesOfKindsTest::isProduct)) {
            if (text.matcher(Files.readString(file)).find()) {
                files.add(file.getFileName().toString());
            }
        }
        return files.stream().sorted().toList();
    }

    private static boolean isProduct(String module) {
        return Set.of("spi", "control", "collectives").contains(module) || module.startsWith("backend-");
    }
}
