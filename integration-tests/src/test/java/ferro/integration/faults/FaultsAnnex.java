package ferro.integration.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The page docs/faults/annex.md: the tests of each row, and the tables of the files next to it. */
record FaultsAnnex(FaultTests tests, Path folder) {
    private static final String HEAD = """
            # Faults: tests and figures

            `FaultsPageTest` writes this page from the tests and the files in docs/faults; edit none of it by hand. \
            [Faults](../faults.md) has the command and says what each column means.

            """;

    Path file() {
        return folder.resolve("annex.md");
    }

    void write(List<Integer> rows) throws IOException {
        Files.writeString(file(), text(rows));
    }

    String text(List<Integer> rows) throws IOException {
        return HEAD
                + "## Tests\n"
                + tests(rows)
                + "\n## The drill\n"
                + DrillFigures.kept(folder.resolve("drill.csv")).table()
                + "\n## The peers\n"
                + PeerFigures.kept(folder.resolve("peers.csv")).table();
    }

    private String tests(List<Integer> rows) throws IOException {
        TestResults results = TestResults.kept(folder.resolve("results.csv"));
        List<String> lines = new ArrayList<>(List.of("| row | test | shown on | cases |", "|---|---|---|---|"));
        for (int row : rows) {
            for (String test : tests.naming(row)) {
                lines.add("| %d | `%s` | %s | %s |"
                        .formatted(
                                row,
                                test,
                                String.join(", ", tests.backEnds(List.of(test))),
                                results.inWords(tests.running(test))));
            }
        }
        return String.join("\n", lines) + "\n";
    }
}
