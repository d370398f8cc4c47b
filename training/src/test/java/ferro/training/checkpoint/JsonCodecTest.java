package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the reader and the writer of JSON. The rules are those of RFC 8259. */
class JsonCodecTest {
    private static final String FILE = "checkpoint.json";

    /** Each of these texts is accepted by some JSON reader, and is no JSON. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"a\":[1,]}",
                "{\"a\":1,}",
                "{\"a\" 1}",
                "{\"a\"=1}",
                "{a:1}",
                "{\"a\":01}",
                "{\"a\":+1}",
                "{\"a\":-}",
                "{\"a\":.5}",
                "{\"a\":1.}",
                "{\"a\":1e}",
                "{\"a\":0x10}",
                "{\"a\":\u0661}",
                "{\"a\":True}",
                "{\"a\":'b'}",
                "{\"a\":\"\\'\"}",
                "{\"a\":\"\\\n\"}",
                "{\"a\":\"\t\"}",
                "{\"a\":\"\\u+123\"}",
                "{\"a\":\"\\u00e\"}",
                "{\"a\":\"\\u066\u0661\"}",
                "{\"a\":\"b}",
                "{\"a\":\"\\",
                "{\"a\":1;\"b\":2}",
                "{\"a\":1}//",
                "{\"a\":1}\u0000",
                "{\"a\":\u00a01}",
                "\ufeff{\"a\":1} {",
                "{\"a\":1",
                "{\"a\":[1",
                "{"
            })
    void textThatIsNotJsonIsRefused(String text) {
        CheckpointException refusal = assertThrows(CheckpointException.class, () -> JsonCodec.read(FILE, text));

        assertTrue(
                refusal.getMessage().matches("(?s)checkpoint.json: (invalid JSON|need a JSON object).*"),
                refusal.getMessage());
    }

    @Test
    void aRefusalNamesThePositionWhatIsNeededAndWhatIsFound() {
        CheckpointException refusal = assertThrows(
                CheckpointException.class, () -> JsonCodec.read(FILE, "{\"a\": {\"b\": [7, {\"c\": \"d\"]}}"));

        assertEquals("checkpoint.json: invalid JSON at $.a.b[1], character 25: need }, found ]", refusal.getMessage());
    }

    @Test
    void spacesAndEscapesAreRead() {
        JsonObjectFields read = JsonCodec.read(
                FILE, " {\r\n\t\"a\\u00e9\\ud83D\\ude00\" : [ -0 , \"\\\"\\\\\\/\\b\\f\\n\\r\\t\" , { } , [ ] ] } ");

        assertEquals(Map.of("a\u00e9\ud83d\ude00", List.of(0L, "\"\\/\b\f\n\r\t", Map.of(), List.of())), read.fields());
    }

    @Test
    void everyWrittenValueIsReadBack() {
        StringBuilder characters = new StringBuilder();
        for (int each = 0; each <= Character.MAX_VALUE; each++) {
            characters.append((char) each);
        }
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put(characters.toString(), List.of(Long.MIN_VALUE, Long.MAX_VALUE, 7L));
        fields.put("text", characters.toString());
        fields.put("", Map.of("none", List.of(), "nothing", Map.of()));

        assertEquals(fields, JsonCodec.read(FILE, JsonCodec.text(fields)).fields());
    }

    @Test
    void aValueWithoutAJsonFormIsRefused() {
        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> JsonCodec.text(Map.of("a", 0.5)));

        assertEquals(
                "cannot write 0.5 as JSON: need a map, a collection, a string, an int or a long", refusal.getMessage());
    }
}
