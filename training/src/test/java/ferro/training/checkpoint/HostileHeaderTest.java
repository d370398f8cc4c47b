package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Headers that somebody has written to do harm: each is refused by one kind of exception that names the file. */
class HostileHeaderTest {
    private static final String FILE = "step-1/model-00001-of-00001.safetensors";
    private static final long DATA = 16;

    /** A header, and what is said of it. Tensors have 16 bytes of data together. */
    static Stream<Arguments> headers() {
        String good = "\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]";
        String rest = ",\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}";
        return Stream.of(
                Arguments.of("{\"a\":{" + good + "},\"a\":{" + good + "}}", "the name \"a\" occurs twice"),
                Arguments.of("{\"a\":{\"dtype\":\"F32\"," + good + "}" + rest, "the name \"dtype\" occurs twice"),
                Arguments.of(tensor("F32", "[4]", "[-8,8]"), "data_offsets [-8, 8]"),
                Arguments.of(tensor("F32", "[2]", "[8,0]"), "data_offsets [8, 0]"),
                Arguments.of(tensor("F32", "[2]", "[0]"), "data_offsets [0]"),
                Arguments.of(
                        tensor("F32", "[8]", "[0,32]"),
                        "the tensors end at byte 32 of the data, but the data has 16 bytes"),
                Arguments.of(
                        tensor("F32", "[2]", "[0,8]"),
                        "the tensors end at byte 8 of the data, but the data has 16 bytes"),
                Arguments.of(
                        tensor("F32", "[2]", "[4,12]") + "",
                        "begins at byte 4 of the data, but the tensors before it end at byte 0"),
                Arguments.of(
                        "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]}" + rest,
                        "\"b\" begins at byte 8 of the data, but the tensors before it end at byte 12"),
                Arguments.of(
                        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}" + rest,
                        "\"b\" begins at byte 8 of the data, but the tensors before it end at byte 4"),
                Arguments.of(tensor("F32", "[3]", "[0,16]"), "has 16 bytes, need 12 for f32[3]"),
                Arguments.of(tensor("F64", "[4]", "[0,16]"), "has 16 bytes, need 32 for f64[4]"),
                Arguments.of(tensor("F32", "[-4]", "[0,16]"), "has shape [-4]"),
                Arguments.of(
                        tensor("F32", "[4611686018427387904,4]", "[0,16]"),
                        "whose number of bytes does not fit in 64 bits"),
                Arguments.of(tensor("F32", "[9223372036854775808]", "[0,16]"), "need an integer of 64 bits"),
                Arguments.of(tensor("F32", "[4.0]", "[0,16]"), "need an integer, found 4.0"),
                Arguments.of(tensor("F32", "[1e1]", "[0,16]"), "need an integer, found 1e1"),
                Arguments.of(tensor("F32", "[\"4\"]", "[0,16]"), "need only integers in the array, found 4"),
                Arguments.of(tensor("F32", "[" + "1,".repeat(99) + "4]", "[0,16]"), "need at most 64 lengths"),
                Arguments.of(tensor("C64", "[2]", "[0,16]"), "has type C64, which ferro does not support"),
                Arguments.of(tensor("f32", "[4]", "[0,16]"), "has type f32, which ferro does not support"));
    }

    /** Text that is no header, or no JSON. */
    static Stream<Arguments> texts() {
        String good = "\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]";
        return Stream.of(
                Arguments.of("{\"a\":{\"shape\":[4],\"data_offsets\":[0,16]}}", "need a string, found nothing"),
                Arguments.of("{\"a\":[]}", "\"a\": need an object, found []"),
                Arguments.of("{\"__metadata__\":{\"a\":1}}", "\"a\": need a string, found 1"),
                Arguments.of("{\"a\":" + "[".repeat(5000) + "]".repeat(5000) + "}", "nested deeper than 6 levels"),
                Arguments.of(
                        "{\"a\":" + "{\"a\":".repeat(5000) + "1" + "}".repeat(5001), "nested deeper than 6 levels"),
                Arguments.of("{\"a\":[" + "[],".repeat(4_000_001) + "1]}", "more than 4000000 values"),
                Arguments.of("{\"a\":null}", "found null"),
                Arguments.of("{\"a\":true}", "found true"),
                Arguments.of("{\"a\":NaN}", "invalid JSON at $"),
                Arguments.of("{'a':1}", "invalid JSON at $"),
                Arguments.of("{\"a\":{" + good, "invalid JSON at $"),
                Arguments.of("[]", "need a JSON object, found ["),
                Arguments.of("   ", "invalid JSON at $"),
                Arguments.of("{} {}", "invalid JSON at $"));
    }

    private static String tensor(String dtype, String shape, String offsets) {
        return "{\"a\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}";
    }

    @ParameterizedTest(name = "{1}")
    @MethodSource({"headers", "texts"})
    void aHostileHeaderIsRefusedWithTheFileName(String json, String said) {
        ByteBuffer bytes = ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8));
        long fileBytes = 8 + bytes.remaining() + DATA;
        CheckpointException refused =
                assertThrows(CheckpointException.class, () -> SafetensorsHeader.parse(FILE, bytes, fileBytes));
        assertTrue(refused.getMessage().startsWith(FILE + ": "), refused.getMessage());
        assertTrue(refused.getMessage().contains(said), refused.getMessage());
        assertTrue(
                refused.getMessage().length() < 700,
                "a message of " + refused.getMessage().length());
    }

    @Test
    void bytesThatAreNotTextAreRefused() {
        ByteBuffer bytes = ByteBuffer.wrap(new byte[] {'{', '"', (byte) 0xff, '"', ':', '1', '}'});
        CheckpointException refused =
                assertThrows(CheckpointException.class, () -> SafetensorsHeader.parse(FILE, bytes, 15));
        assertEquals(FILE + ": the JSON text is not valid UTF-8", refused.getMessage());
    }

    /** A length that is believed would be allocated. */
    @ParameterizedTest
    @MethodSource("lengths")
    void aLengthBeyondTheFileIsRefusedBeforeAnAllocation(long length, long fileBytes) {
        ByteBuffer first = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, length);
        CheckpointException refused =
                assertThrows(CheckpointException.class, () -> SafetensorsHeader.length(FILE, first, fileBytes));
        assertTrue(
                refused.getMessage()
                        .startsWith(FILE + ": the header has " + Long.toUnsignedString(length) + " bytes, need 2 to "),
                refused.getMessage());
    }

    static Stream<Arguments> lengths() {
        return Stream.of(
                Arguments.of(-1L, 1000L),
                Arguments.of(Long.MAX_VALUE, 1000L),
                Arguments.of(Long.MIN_VALUE, 1000L),
                Arguments.of(993L, 1000L),
                Arguments.of(100_000_001L, Long.MAX_VALUE),
                Arguments.of(0L, 1000L),
                Arguments.of(1L, 8L));
    }

    @Test
    void aFileWithoutALengthIsRefused() {
        CheckpointException refused = assertThrows(
                CheckpointException.class, () -> SafetensorsHeader.length(FILE, ByteBuffer.allocate(7), 7));
        assertEquals(FILE + " has 7 bytes, need a header of at least 8 bytes", refused.getMessage());
    }

    /** Or everything might be refused. */
    @Test
    void headersOfOtherProgramsAreRead() {
        String json = "{ \"b\" : {\"data_offsets\":[8,16], \"shape\":[], \"dtype\":\"U64\"},\n"
                + "\"__metadata__\":{\"format\":\"pt\"}, \"a\\u0041\":{\"dtype\":\"BF16\",\"shape\":[2,2],\"data_offsets\":[0,8]},"
                + "\"none\":{\"dtype\":\"I8\",\"shape\":[3,0],\"data_offsets\":[8,8]}}    ";
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        SafetensorsHeader header = SafetensorsHeader.parse(FILE, ByteBuffer.wrap(bytes), 8 + bytes.length + DATA);
        assertEquals(
                List.of(
                        new SafetensorsEntry("aA", DataType.BFLOAT16, List.of(2L, 2L), 0, 8),
                        new SafetensorsEntry("none", DataType.INT8, List.of(3L, 0L), 8, 8),
                        new SafetensorsEntry("b", DataType.UINT64, List.of(), 8, 16)),
                header.entries());
        assertEquals(8 + bytes.length, header.dataStart());
    }

    @Test
    void everyElementTypeHasItsNameInTheFormat() {
        for (DataType type : DataType.values()) {
            SafetensorsEntry entry = new SafetensorsEntry("a", type, List.of(3L), 0, 3L * type.byteSize());
            ByteBuffer file = SafetensorsHeader.bytes(List.of(entry), java.util.Map.of());
            assertEquals(0, file.remaining() % 8);
            long fileBytes = file.remaining() + entry.byteCount();
            ByteBuffer json = file.slice(8, SafetensorsHeader.length(FILE, file, fileBytes));
            assertEquals(
                    List.of(entry),
                    SafetensorsHeader.parse(FILE, json, fileBytes).entries());
        }
    }

    @Test
    void bytesOfElementsAreReversedOnBigEndianMachines() {
        byte[] bytes = {0, 1, 2, 3, 4, 5, 6, 7, 8};
        ElementCodec.reverse(ByteBuffer.wrap(bytes, 1, 8), 4);
        assertEquals("[0, 4, 3, 2, 1, 8, 7, 6, 5]", Arrays.toString(bytes));
    }
}
