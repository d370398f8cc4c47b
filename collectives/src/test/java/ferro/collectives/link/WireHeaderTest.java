package ferro.collectives.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class WireHeaderTest {
    private static final Path PAGE = Path.of("../docs/wire-protocol.md");
    private static final Pattern ROW = Pattern.compile("\\| (\\d+) \\| 8 \\| `(\\w+)`.*");
    private static final CallHeader CALL =
            CallHeader.of(0x1112131415161718L, 0x2122232425262728L, 0x3132333435363738L, "text");
    /** Headers need not be aligned. */
    private static final int AT = 3;

    private final ByteBuffer memory = ByteBuffer.allocate(AT + WireHeader.BYTES).order(ByteOrder.nativeOrder());

    /** A field of the table has the name of what it holds of a {@link CallHeader}. */
    @Test
    void thePageListsTheHeaderFieldsAtTheirOffsets() throws Exception {
        WireHeader.put(CALL, memory, AT);
        List<String> page = Files.readAllLines(PAGE);
        List<MatchResult> rows = page.subList(page.indexOf("## Data connections"), page.size()).stream()
                .dropWhile(line -> !line.startsWith("|---"))
                .skip(1)
                .takeWhile(line -> line.startsWith("| "))
                .flatMap(line -> ROW.matcher(line).results())
                .collect(Collectors.toList());

        assertEquals(WireHeader.BYTES, rows.size() * Long.BYTES, "bytes of the table of " + PAGE);
        memory.order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < rows.size(); i++) {
            String field = rows.get(i).group(2);
            assertEquals("" + i * Long.BYTES, rows.get(i).group(1), "where " + PAGE + " has the " + field);
            assertEquals(CallHeader.class.getMethod(field).invoke(CALL), memory.getLong(AT + i * Long.BYTES), field);
        }
    }

    @Test
    void aDifferenceInAnyByteOfAHeaderIsDetected() {
        WireHeader.put(CALL, memory, AT);
        assertNull(WireHeader.other(CALL, memory, AT));
        for (int i = AT; i < memory.capacity(); i++) {
            memory.put(i, (byte) ~memory.get(i));
            assertNotNull(WireHeader.other(CALL, memory, AT), "byte " + (i - AT));
            memory.put(i, (byte) ~memory.get(i));
        }
    }

    /** As ranks do that share memory: whoever waits knows the sequence from a word that was written last. */
    @Test
    void aHeaderWithAKnownSequenceIsComparedByItsRest() {
        WireHeader.putRest(CALL.call(), memory, AT);
        long sequence = CALL.sequence();
        assertNull(WireHeader.other(sequence, CALL.call(), sequence, memory, AT));
        assertEquals(
                sequence + 1,
                WireHeader.other(sequence, CALL.call(), sequence + 1, memory, AT)
                        .sequence());
        for (int i = AT + Long.BYTES; i < memory.capacity(); i++) {
            memory.put(i, (byte) ~memory.get(i));
            assertNotNull(WireHeader.other(sequence, CALL.call(), sequence, memory, AT), "byte " + (i - AT));
            memory.put(i, (byte) ~memory.get(i));
        }
    }
}
