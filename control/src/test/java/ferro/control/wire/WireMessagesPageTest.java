package ferro.control.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.control.failure.Failure;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A comparison of the tables of messages in docs/wire-protocol.md with the codec. {@code -Dwire.write=true} writes all
 * columns again except the last one, in which people describe the message.
 */
class WireMessagesPageTest {
    private static final Path PAGE = Path.of("../docs/wire-protocol.md");
    private static final List<String> HEAD =
            List.of("| kind | message | fields | bytes | means |", "|---|---|---|---|---|");
    private static final String WRITE = "mvn -B test -pl control -am -Dtest=WireMessagesPageTest -Dwire.write=true"
            + " -Dsurefire.failIfNoSpecifiedTests=false";

    @BeforeAll
    static void makeAnewIfAsked() throws IOException {
        if (Boolean.getBoolean("wire.write")) {
            for (MessageFamily family : MessageFamily.values()) {
                write(family);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void thePageListsTheFieldsOfEveryMessageInTheirOrder(MessageFamily family) throws IOException {
        List<String> page = Files.readAllLines(PAGE);
        int begin = begin(page, family);

        List<String> written = rows(page, begin).stream()
                .map(row -> row.substring(0, lastColumn(row)))
                .toList();

        assertEquals(HEAD, page.subList(begin - HEAD.size(), begin));
        assertEquals(
                String.join("\n", codec(family).stream().map(FieldList::row).toList()),
                String.join("\n", written),
                "the table under \"" + family.heading + "\" of docs/wire-protocol.md; to make it anew: " + WRITE);
    }

    @ParameterizedTest
    @EnumSource
    void fieldNamesAreTheRecordComponentsAndFitIntoAMessage(MessageFamily family) {
        for (FieldList message : codec(family)) {
            assertEquals(
                    Stream.of(message.type().getRecordComponents())
                            .flatMap(WireMessagesPageTest::fields)
                            .toList(),
                    message.names(),
                    message.name());
            assertTrue(message.mostBytes() <= WireMessage.BYTES_MOST, message::row);
        }
    }

    /** Returns the fields of a component. A failure has a field for each of its components except its exception. */
    private static Stream<String> fields(RecordComponent component) {
        return component.getType() == Failure.class
                ? Stream.of("origin", "sequence", "code", "known", "culprits", "text")
                : Stream.of(component.getName());
    }

    private static List<FieldList> codec(MessageFamily family) {
        return IntStream.rangeClosed(1, family.kinds())
                .mapToObj(kind -> new FieldList(family, kind))
                .toList();
    }

    /** Returns the number of the first row below the head of a table. */
    private static int begin(List<String> page, MessageFamily family) {
        int heading = page.indexOf(family.heading);
        int head = heading + page.subList(heading + 1, page.size()).indexOf(HEAD.get(0)) + 1;
        assertTrue(heading >= 0 && head > heading, () -> PAGE + " has no table under \"" + family.heading + "\"");
        return head + HEAD.size();
    }

    private static List<String> rows(List<String> page, int begin) {
        return page.subList(begin, page.size()).stream()
                .takeWhile(line -> line.startsWith("| "))
                .toList();
    }

    /** Returns the position at which the last column of a row begins. */
    private static int lastColumn(String row) {
        return row.lastIndexOf('|', row.length() - 2) + 1;
    }

    private static void write(MessageFamily family) throws IOException {
        List<String> page = new ArrayList<>(Files.readAllLines(PAGE));
        int begin = begin(page, family);
        List<String> rows = rows(page, begin);
        List<String> made = new ArrayList<>();
        for (FieldList message : codec(family)) {
            String named = " | " + message.name() + " | ";
            String means = rows.stream()
                    .filter(row -> row.contains(named))
                    .map(row -> row.substring(lastColumn(row)))
                    .findFirst()
                    .orElse("  |");
            made.add(message.row() + means);
        }
        page.subList(begin, begin + rows.size()).clear();
        page.addAll(begin, made);
        Files.write(PAGE, page);
    }
}
