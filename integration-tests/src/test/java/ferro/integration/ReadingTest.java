package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.ConfigProgram.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code config/reading/Reading.java}, which draws the sentences of a reading and counts where readers stopped. */
@Timeout(150)
class ReadingTest extends PlantedCheckout {
    private static final String SOURCE = """
            package a;

            /**
             * The first sentence of a type, as {@code code} has it. A second sentence has a {@link String#length} in it!
             * Too short. <p>A paragraph, e.g. This one, is read as a sentence.
             */
            class Source {
                /**
                 * Returns the number of elements that were sent.
                 *
                 * @param peer the rank
                 * @return the number of elements, which is never negative or larger than that
                 */
                int sent(int peer) {
                    System.out.println("a line of text for rank " + peer + ": " + "more");
                    throw new IllegalStateException(peer > 0 ? "need a rank below " + limit() + " here" : "none");
                }
            }
            """;

    private static final String PAGE = """
            # A heading that is not read at all

            A page has [links to other pages](other.md) in its sentences.
            Another sentence spans
            two lines of a page.

            | a cell of four | a second cell has five words |
            |---|---|
            - an item of a list has its own
            ```
            a snippet of code is never read
            ```
            """;

    @TempDir
    private static Path classes;

    private static ConfigProgram reading;

    @BeforeAll
    static void compile() {
        reading = ConfigProgram.compile("config/reading/Reading.java", classes);
    }

    @Test
    void sentencesAreDrawnFromJavadocPagesAndMessagesWithTheirOrigin() throws Exception {
        writeCheckout();

        assertEquals(0, draw("seed").exit());

        List<String> key = Files.readAllLines(folder.resolve("drawn/key.csv")).stream()
                .map(line -> line.substring(line.indexOf(',') + 1))
                .sorted()
                .toList();
        String java = "one/src/main/java/a/Source.java";
        assertEquals(
                List.of(
                        "bad,known,config/reading/known.csv,\"A bad one, told.\"",
                        "good,known,config/reading/known.csv,A good one.",
                        "javadoc,one," + java
                                + ":14,\"@return the number of elements, which is never negative or larger than that\"",
                        "javadoc,one," + java + ":14,Returns the number of elements that were sent.",
                        "javadoc,one," + java + ":7,\"A paragraph, e.g. This one, is read as a sentence.\"",
                        "javadoc,one," + java + ":7,\"The first sentence of a type, as `code` has it.\"",
                        "javadoc,one," + java + ":7,A second sentence has a `String.length` in it!",
                        "kind,module,origin,sentence",
                        "message,one," + java + ":15,a line of text for rank <peer>: more",
                        "message,one," + java + ":16,need a rank below <limit> here",
                        "page,README.md,README.md,A page has links to other pages in its sentences.",
                        "page,README.md,README.md,Another sentence spans two lines of a page.",
                        "page,README.md,README.md,a second cell has five words",
                        "page,README.md,README.md,an item of a list has its own"),
                key);
        String sheet = Files.readString(folder.resolve("drawn/sheet.txt"));
        assertTrue(sheet.contains(". A good one.\n") && !sheet.contains("README"), sheet);
    }

    @Test
    void oneSeedDrawsTheSameSheet() throws Exception {
        writeCheckout();
        draw("seed");
        String first = Files.readString(folder.resolve("drawn/key.csv"));

        draw("seed");
        assertEquals(first, Files.readString(folder.resolve("drawn/key.csv")));
        draw("another");
        assertNotEquals(first, Files.readString(folder.resolve("drawn/key.csv")));
    }

    @Test
    void stopsOfAnyReaderAndContradictionsCountAsStumbles() throws Exception {
        writeKey();
        // 1 to 20 are bad, 21 to 40 good, 41 to 44 of two modules
        write("first.csv", answers(number -> number <= 16 || number == 41));
        write("second.csv", answers(number -> number <= 20 || number == 21 || number == 22 || number == 41));
        write("contradicted.txt", "43\n");

        Run run = reading.run(folder, "count", "key.csv", "first.csv", "second.csv", "contradicted.txt");

        assertEquals(0, run.exit(), run::text);
        assertEquals(
                List.of(
                        "41 stopped A.java:1: sentence 41",
                        "43 contradicted B.java:3: sentence 43",
                        "| kind | module | sentences | stumbles | share |",
                        "|---|---|---|---|---|",
                        "| bad | all | 20 | 20 | 100 % |",
                        "| bad | known | 20 | 20 | 100 % |",
                        "| good | all | 20 | 2 | 10 % |",
                        "| good | known | 20 | 2 | 10 % |",
                        "| javadoc | all | 4 | 2 | 50 % |",
                        "| javadoc | one | 3 | 1 | 33 % |",
                        "| javadoc | two | 1 | 1 | 100 % |",
                        "reader 1 stopped at 16 of the bad sentences (need 16) and at 0 of the good ones (at most 2): counts",
                        "reader 2 stopped at 20 of the bad sentences (need 16) and at 2 of the good ones (at most 2): counts",
                        "the reading counts"),
                run.printed());
    }

    @Test
    void aCarelessOrTooStrictReaderDoesNotCount() throws Exception {
        writeKey();
        write("right.csv", answers(number -> number <= 20));
        write("careless.csv", answers(number -> number <= 15));
        write("strict.csv", answers(number -> number <= 23));

        Run careless = reading.run(folder, "count", "key.csv", "right.csv", "careless.csv");
        Run strict = reading.run(folder, "count", "key.csv", "strict.csv", "right.csv");

        assertEquals(1, careless.exit());
        assertTrue(careless.text().endsWith("does not count\nthe reading does not count"), careless::text);
        assertEquals(1, strict.exit());
        assertTrue(
                strict.text().contains("reader 1 stopped at 20 of the bad sentences (need 16) and at 3 "),
                strict::text);
    }

    private Run draw(String seed) throws IOException, InterruptedException {
        return reading.run(folder, "draw", "drawn", seed);
    }

    private void writeCheckout() throws IOException {
        write("one/src/main/java/a/Source.java", SOURCE);
        write("one/src/test/java/a/SourceTest.java", "/** A sentence of a test is not read. */ class SourceTest {}");
        write("README.md", PAGE);
        write("docs/decisions/0001.md", "A decision is a record and is not read.");
        write("config/reading/known.csv", "kind,sentence\nbad,\"A bad one, told.\"\ngood,A good one.\n");
    }

    private void writeKey() throws IOException {
        List<String> key = new ArrayList<>(List.of("number,kind,module,origin,sentence"));
        for (int i = 1; i <= 40; i++) {
            key.add(i + "," + (i <= 20 ? "bad" : "good") + ",known,known.csv,sentence " + i);
        }
        key.add("41,javadoc,one,A.java:1,sentence 41");
        key.add("42,javadoc,one,A.java:2,\"sentence, \"\"quoted\"\"\"");
        key.add("43,javadoc,two,B.java:3,sentence 43");
        key.add("44,javadoc,one,A.java:4,sentence 44");
        write("key.csv", String.join("\n", key));
    }

    private static String answers(IntPredicate isStop) {
        StringBuilder answers = new StringBuilder("number,stopped,paraphrase\n");
        for (int i = 1; i <= 44; i++) {
            answers.append(i).append(isStop.test(i) ? ",yes," : ",no,\"a, b\"").append('\n');
        }
        return answers.toString();
    }
}
