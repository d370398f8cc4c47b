package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.ConfigProgram.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code config/words/Words.java}, and the old words of config/words.csv that this checkout may still have. */
@Timeout(150)
@Tag("text")
class WordsTest extends PlantedCheckout {
    private static final String WORDS = """
            old,new,where,why
            place/places,position,names,a number in an order
            place/places,machine,names,a host
            settle*,decide,names,one result becomes final
            under way,in flight,texts,not complete
            area,segment,everywhere,shared memory
            GroupEnd,GroupCore,name,shared by the handles of a group
            long,two sentences,pages,more than 30 words
            same,a meaning,tags,the signature has the name
            """;

    private static final String ALLOWED = """
            name,module,why
            inPlace,*,the term of the field
            placeOfBirth,two,another thing
            """;

    private static final String NAMES = """
            package a.place;

            /** An area. Its {@code area} is no text, and the transfer is under
             * way.
             * @param <Place> the place */
            final class GroupEnd<Place> {
                static final int MOST_PLACES = 1;
                boolean isInPlace, replace, placement, GroupEnds;

                record Pair(int firstPlace, int inPlaceArea) {}

                /** @return settle now
                 * @throws Exception an {@code Exception}, if it is late */
                void settleNow(int place) {
                    int settledAt = place;
                    for (int areaIndex : new int[] {place}) {}
                    Runnable run = () -> System.out.println("place " + place);
                    java.util.function.IntFunction<Object> made = chunkPlace -> null;
                }
            }
            """;

    private static final String TEST = """
            package a.place;

            class GroupEndTest {
                @Test
                void anAreaHasAPlace() {
                    int placeOfBirth = 0;
                }
            }
            """;

    private static final String PAGE = """
            A place in `area` is here.
            ```
            area
            ```
            An area is under
            way. Under. Way.
            A sentence of 30 words does not count%s end. It ends.

            A sentence of 31 words `counts as one`%s end.
            | in a table | not%s |
            """.formatted(" and".repeat(21), " and".repeat(24), " and".repeat(40));

    private static final List<String> COUNTED = List.of(
            "docs,area,1",
            "docs,long,1",
            "docs,under way (texts),1",
            "one,GroupEnd,1",
            "one,area,3",
            "one,place/places,6",
            "one,same,2",
            "one,settle*,2",
            "one,under way (texts),1",
            "two,GroupEnd,1",
            "two,area,1",
            "two,place/places,1");

    @TempDir
    private static Path classes;

    private static ConfigProgram words;

    @BeforeAll
    static void compile() {
        words = ConfigProgram.compile("config/words/Words.java", classes);
    }

    @Test
    void thisCheckoutHasNoMoreOldWordsThanCounted() throws Exception {
        Run run = words.run(CHECKOUT);

        assertEquals(0, run.exit(), run.text());
    }

    /** Words.java does not read them, so that it counts the same without a build. */
    @Test
    void generatedSourcesHaveNoOldWords() throws Exception {
        for (String file : List.of("words.csv", "words-allowed.csv")) {
            write("config/" + file, Files.readString(CHECKOUT.resolve("config").resolve(file)));
        }
        write("config/words-counts.csv", "module,word,count\n");
        for (Path file : MainSources.of("collectives"::equals)) {
            if (file.toString().contains("generated-sources")) {
                write("collectives/src/" + file.getFileName(), Files.readString(file));
            }
        }

        assertTrue(
                Files.exists(folder.resolve("collectives")), "nothing was made of templates: run the build with -am");
        assertEquals(
                "0 old words, as in config/words-counts.csv", words.run(folder).text());
    }

    @Test
    @Tag("long")
    void namesOfAllKindsAndTextsAreCounted() throws Exception {
        writeCheckout();

        assertEquals(COUNTED, counts());
        assertEquals(
                List.of("21 old words, as in config/words-counts.csv"),
                words.run(folder).printed());
    }

    @Test
    @Tag("long")
    void anAdditionalOldWordFailsWithItsPositionAndItsReplacement() throws Exception {
        writeCheckout();
        write("two/src/main/java/b/Added.java", "package b;\n\nfinal class Added {\n    int meetingPlace;\n}\n");

        Run run = words.run(folder);

        assertEquals(1, run.exit(), run::toString);
        List<String> problem = List.of(
                "two,place/places: 2, and config/words-counts.csv has 1. Use the new word. "
                        + "The files that changed last are shown first:",
                "  two/src/main/java/b/Added.java:4: meetingPlace: \"place/places\" is now "
                        + "position (a number in an order); machine (a host)");
        assertEquals(problem, run.printed().subList(0, 2));
    }

    @Test
    @Tag("long")
    void aRemovedOldWordFailsUntilTheSmallerCountIsWritten() throws Exception {
        writeCheckout();
        write("one/src/main/java/a/Names.java", NAMES.replace("settledAt", "decidedAt"));

        Run run = words.run(folder);
        assertEquals(1, run.exit(), run::toString);
        assertEquals(
                "one,settle*: 1, and config/words-counts.csv has 2. Write the smaller count down: "
                        + "java config/words/Words.java --shrink",
                run.printed().get(0));

        words.run(folder, "--shrink");
        assertEquals(0, words.run(folder).exit());
        assertTrue(counts().contains("one,settle*,1"));
    }

    @Test
    @Tag("long")
    void noOptionRaisesACount() throws Exception {
        writeCheckout();
        write("one/src/main/java/a/Names.java", NAMES.replace("made", "settled"));

        words.run(folder, "--shrink");
        assertEquals(COUNTED, counts());
        Run again = words.run(folder, "--add", "settle*");

        assertEquals(1, again.exit());
        assertTrue(again.text().contains("settle* has counts already, which only shrink"));
        assertEquals(COUNTED, counts());
    }

    @Test
    @Tag("long")
    void countsMayMoveBetweenModulesButNeverGrow() throws Exception {
        writeCheckout();
        Files.delete(folder.resolve("one/src/main/java/a/Names.java"));
        write("three/src/main/java/a/Names.java", NAMES);

        Run moved = words.run(folder, "--move", "one", "three");

        assertEquals(0, moved.exit(), moved::toString);
        assertEquals(0, words.run(folder).exit());
        assertTrue(counts().contains("three,settle*,2"), counts()::toString);
        assertEquals(COUNTED.size(), counts().size());

        write("one/src/main/java/a/Names.java", NAMES);
        Run again = words.run(folder, "--move", "three", "one");
        assertEquals(1, again.exit());
        assertTrue(again.text().contains("[three, one] have "), again::toString);
    }

    private void writeCheckout() throws IOException, InterruptedException {
        write("config/words.csv", WORDS);
        write("config/words-allowed.csv", ALLOWED);
        write("config/words-counts.csv", "module,word,count\n");
        write("one/src/main/java/a/Names.java", NAMES);
        write("one/target/generated/a/Made.java", "package a; class PlaceMade {}");
        write("two/src/test/java/a/GroupEndTest.java", TEST);
        write("docs/page.md", PAGE);
        write("docs/decisions/0001.md", "An area.");
        Run added = words.run(
                folder, "--add", "place/places", "settle*", "under way (texts)", "area", "GroupEnd", "long", "same");
        assertEquals(0, added.exit(), added::toString);
    }

    private List<String> counts() throws IOException {
        List<String> lines = Files.readAllLines(folder.resolve("config/words-counts.csv"));
        return lines.subList(1, lines.size());
    }
}
