package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Bytes that Jazzer makes up, as a safetensors file. */
class SafetensorsFuzzTest {
    static Stream<byte[]> files() {
        return Stream.of(
                        "{\"__metadata__\":{\"format\":\"pt\"},"
                                + "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
                        "{\"b\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[0,2]},"
                                + "\"a\":{\"dtype\":\"I64\",\"shape\":[1,1],\"data_offsets\":[2,10]}}",
                        "{}")
                .map(SafetensorsFuzzTest::file);
    }

    private static byte[] file(String json) {
        byte[] text = json.getBytes(StandardCharsets.UTF_8);
        int data = json.contains("BF16") ? 10 : json.contains("F32") ? 8 : 0;
        return ByteBuffer.allocate(SafetensorsHeader.LENGTH_BYTES + text.length + data)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(text.length)
                .put(text)
                .array();
    }

    @MethodSource("files")
    @FuzzTest(maxDuration = "1m")
    void anyHeaderIsRefusedOrWrittenBackUnchanged(byte[] bytes) {
        SafetensorsHeader read;
        try {
            int length = SafetensorsHeader.length("a file", ByteBuffer.wrap(bytes), bytes.length);
            ByteBuffer json = ByteBuffer.wrap(bytes, SafetensorsHeader.LENGTH_BYTES, length)
                    .slice();
            read = SafetensorsHeader.parse("a file", json, bytes.length);
        } catch (CheckpointException refused) {
            return;
        }
        ByteBuffer again = SafetensorsHeader.bytes(read.entries(), read.metadata());
        long all = again.remaining() + bytes.length - read.dataStart();
        SafetensorsHeader second = SafetensorsHeader.parse(
                "again", again.position(SafetensorsHeader.LENGTH_BYTES).slice(), all);
        assertEquals(read.entries(), second.entries());
        assertEquals(read.metadata(), second.metadata());
    }
}
