package ferro.control.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.control.failure.ControlMessage;
import ferro.control.failure.ControlMessage.Abort;
import ferro.control.failure.ControlMessage.Cancellation;
import ferro.control.failure.ControlMessage.Query;
import ferro.control.failure.Failure;
import ferro.control.failure.StatusAnswer;
import ferro.control.membership.MembershipMessage;
import ferro.control.membership.MembershipMessage.Heartbeat;
import ferro.control.membership.MembershipMessage.LossReport;
import ferro.control.membership.MembershipMessage.RecoveryReport;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MessageBytesTest {
    private static final int MUTATIONS = 100_000;

    @ParameterizedTest
    @EnumSource
    void everyMessageDecodesToTheEncodedRecord(MessageFamily family) {
        TreeSet<Integer> kinds = new TreeSet<>();
        for (WireMessage message : family.samples) {
            ByteBuffer bytes = message.encoded();
            assertTrue(bytes.remaining() <= WireMessage.BYTES_MOST, () -> bytes.remaining() + " bytes: " + message);
            assertEquals(message, family.decode(bytes));
            kinds.add((int) bytes.get(0));
        }
        assertEquals(family.kinds(), kinds.size(), () -> "records with a sample: " + kinds);
        assertEquals(1, kinds.first());
        assertEquals(family.kinds(), kinds.last());
        assertNull(family.of(family.kinds() + 1, null));
    }

    @ParameterizedTest
    @EnumSource
    void aMessageThatIsTooShortOrTooLongIsRefused(MessageFamily family) {
        for (WireMessage message : family.samples) {
            ByteBuffer bytes = message.encoded();
            for (int length = 0; length < bytes.remaining(); length++) {
                refusal(family, bytes.slice(0, length));
            }
            String more = refusal(
                    family,
                    ByteBuffer.allocate(bytes.remaining() + 1)
                            .put(bytes.duplicate())
                            .rewind());
            // a message of the greatest length would be too long with one more byte
            assertTrue(more.contains("1 bytes after its last field, need 0") || more.contains("of 4097 bytes"), more);
        }
    }

    /** The bytes are samples in which some bytes are changed, left out or added. */
    @ParameterizedTest
    @EnumSource
    void anyChangedMessageIsRefusedOrEncodesToItsBytes(MessageFamily family) {
        Random random = new Random(16);
        int read = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            read += MessageFuzz.isRead(family, mutation(random, family)) ? 1 : 0;
        }
        assertTrue(read > MUTATIONS / 20 && read < MUTATIONS - MUTATIONS / 20, read + " of " + MUTATIONS + " read");
    }

    private static byte[] mutation(Random random, MessageFamily family) {
        WireMessage seed = family.samples.get(random.nextInt(family.samples.size()));
        ByteBuffer encoded = seed.encoded();
        int length = random.nextInt(4) > 0 ? encoded.remaining() : random.nextInt(2 * encoded.remaining() + 1);
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        encoded.get(bytes, 0, Math.min(length, encoded.remaining()));
        for (int change = random.nextInt(4); change > 0 && length > 0; change--) {
            // the first bytes hold the fields of fixed length and the lengths of texts
            int position = random.nextBoolean() ? random.nextInt(length) : random.nextInt(Math.min(length, 32));
            bytes[position] = (byte) (random.nextBoolean() ? random.nextInt() : random.nextInt(10));
        }
        return bytes;
    }

    @Test
    void textsAreCutBetweenCharactersWithTheNumberOfMissingOnes() {
        for (String one : new String[] {"x", "ß", "€", "\uD83D\uDE00"}) {
            for (int before = 0; before < 4; before++) {
                String text = "y".repeat(before) + one.repeat(801);
                LossReport cut =
                        (LossReport) MembershipMessage.decode(new LossReport(1, Code.PROTOCOL, text).encoded(), 2);
                int length = cut.text().getBytes(StandardCharsets.UTF_8).length;
                String start = cut.text().substring(0, cut.text().indexOf(" ... ("));
                int missing = 801 + before - start.codePointCount(0, start.length());
                assertTrue(text.startsWith(start), one);
                assertTrue(length > 800 - 6 && length <= 800, one + " cut to " + length + " bytes");
                assertEquals(start + " ... (" + missing + " more characters)", cut.text());
                assertEquals(FieldWriter.cut(text, 800), cut.text());
                assertEquals(cut.text(), FieldWriter.cut(cut.text(), 800));
            }
        }
    }

    @Test
    void aRefusalNamesTheFoundAndTheNeededValue() {
        refused("membership message of 0 bytes, need 1 to 4096");
        refused("membership message of 4097 bytes, need 1 to 4096", new byte[4097]);
        refused("membership message of kind 9, need 1 to 6", bytes(9, 9));
        refused("membership message of kind -1, need 1 to 6", bytes(-1));
        refused("membership message of kind 2, field pauses: found 7 bytes, need 8 more", new byte[] {2}, new byte[15]);
        refused("membership message of kind 3: 2 bytes after its last field, need 0", bytes(3, 0, 0));
        refused("membership message of kind 5, field rank: found 3, need a rank below 3", bytes(5, 0, 0, 0, 3));
        refused("membership message of kind 5, field rank: found -1, need a rank below 3", bytes(5, -1, -1, -1, -1));
        refused("membership message of kind 4, field code: found code 99, need one of ", bytes(4, 0, 0, 0, 1, 99));
        int late = Code.TIMED_OUT.ordinal();
        refused("membership message of kind 4, field code: found TIMED_OUT, need one of ", bytes(4, 0, 0, 0, 1, late));
        refused(
                "membership message of kind 4, field text: found a text of 801 bytes, need at most 800",
                bytes(4, 0, 0, 0, 1, Code.PROTOCOL.ordinal(), 3, 33),
                new byte[801]);
        refused(
                "membership message of kind 4, field text: found 2 bytes, need 3 more",
                bytes(4, 0, 0, 0, 1, Code.PROTOCOL.ordinal(), 0, 3, 'a', 'b'));
        refused(
                "membership message of kind 4, field text: found a text of 2 bytes that is not UTF-8, need UTF-8",
                bytes(4, 0, 0, 0, 1, Code.PROTOCOL.ordinal(), 0, 2, 0xC3, 'b'));
    }

    @Test
    void aControlMessageWithAnInvalidValueIsRefusedByField() {
        String ofAbort = "control message of kind 1, field ";
        refused(
                ofAbort + "origin: found 3, need a rank below 3",
                new Abort(0, Set.of(), new Failure(Code.ABORTED, 3, 0, Set.of(), "", null, 0)));
        refused(
                ofAbort + "origin: found -1, need a rank below 3",
                new Abort(0, Set.of(), new Failure(Code.ABORTED, -1, 0, Set.of(), "", null, 0)));
        refused(
                ofAbort + "known: found -1, need 0 or more",
                new Abort(0, Set.of(), new Failure(Code.ABORTED, 0, 0, Set.of(), "", null, -1)));
        refused(
                ofAbort + "ageMillis: found -2, need 0 or more",
                new Abort(-2, Set.of(), new Failure(Code.ABORTED, 0, 0, Set.of(), "", null, 0)));
        refused(
                ofAbort + "culprits: found \"1,3\", need ranks below 3",
                new Abort(0, Set.of(), new Failure(Code.ABORTED, 0, 0, Set.of(1, 3), "", null, 0)));
        ByteBuffer twice = new Abort(0, Set.of(), new Failure(Code.ABORTED, 0, 0, Set.of(1, 2), "", null, 0)).encoded();
        // the byte before the last text, which is empty
        twice.put(twice.limit() - Short.BYTES - 1, (byte) '1');
        assertEquals(ofAbort + "culprits: found \"1,1\", need ascending ranks", refusal(MessageFamily.CONTROL, twice));
    }

    @Test
    void anInvalidAnswerOrCancelIsRefusedByField() {
        ByteBuffer waiting = new StatusAnswer(1, 0, "", 0, 0, 0, "", "", Set.of(1, 7), 0, 0, "").encoded();
        // the last digit of the list, before two numbers and the last text, which is empty
        int digit = waiting.limit() - Short.BYTES - Long.BYTES - Integer.BYTES - 1;
        String ofStatus = "control message of kind 5, field waitsFor: ";
        waiting.put(digit, (byte) 'x');
        String needed = "need ranks below " + Integer.MAX_VALUE;
        assertEquals(ofStatus + "found \"1,x\", " + needed, refusal(MessageFamily.CONTROL, waiting));
        waiting.put(digit, (byte) '1');
        assertEquals(ofStatus + "found \"1,1\", need ascending ranks", refusal(MessageFamily.CONTROL, waiting));
        refused("control message of kind 4, field lines: found -1, need 0 or more", new Query(1, 0, 0, "", -1));
        refused(
                "control message of kind 5, field sufficient: found -1, need 0 or more",
                new StatusAnswer(1, 0, "", 0, 0, 0, "", "", Set.of(1), -1, 0, ""));
        ByteBuffer longLine = new StatusAnswer(1, 0, "", 0, 0, 0, "", "", Set.of(), 0, 0, "x".repeat(240)).encoded();
        longLine.putShort(longLine.limit() - 242, (short) 241);
        assertEquals(
                "control message of kind 5, field location: found a text of 241 bytes, need at most 240",
                refusal(MessageFamily.CONTROL, longLine));
        ByteBuffer longList = new Cancellation(1, new Failure(Code.ABORTED, 0, -1, Set.of(), "", null)).encoded();
        // the length of the list, before the text, which is empty
        longList.putShort(longList.limit() - 2 * Short.BYTES, (short) 1025);
        assertEquals(
                "control message of kind 7, field culprits: found a text of 1025 bytes, need at most 1024",
                refusal(MessageFamily.CONTROL, longList));
        assertEquals(
                "control message of kind 13, need 1 to 12",
                refusal(MessageFamily.CONTROL, ByteBuffer.allocate(9).put(0, (byte) 13)));
    }

    private static void refused(String why, ControlMessage message) {
        String said = refusal(MessageFamily.CONTROL, message.encoded());
        assertTrue(said.startsWith(why), said);
    }

    @Test
    void decodingLeavesTheBufferUnchanged() {
        ByteBuffer message = new Heartbeat(1, 2, 3).encoded();
        MessageFamily.MEMBERSHIP.decode(message);
        assertEquals(new Heartbeat(1, 2, 3), MessageFamily.MEMBERSHIP.decode(message));
        ByteBuffer inside = ByteBuffer.allocate(30).position(7).put(new RecoveryReport(2).encoded());
        assertEquals(
                new RecoveryReport(2),
                MessageFamily.MEMBERSHIP.decode(inside.flip().position(7)));
    }

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    private static void refused(String why, byte[]... parts) {
        ByteBuffer message = ByteBuffer.allocate(
                Arrays.stream(parts).mapToInt(part -> part.length).sum());
        for (byte[] part : parts) {
            message.put(part);
        }
        String said = refusal(MessageFamily.MEMBERSHIP, message.flip());
        assertTrue(said.startsWith(why), said);
    }

    private static String refusal(MessageFamily family, ByteBuffer bytes) {
        return assertThrows(IllegalArgumentException.class, () -> family.decode(bytes))
                .getMessage();
    }
}
