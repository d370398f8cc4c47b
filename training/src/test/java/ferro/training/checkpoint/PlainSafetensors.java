package ferro.training.checkpoint;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A second reader of safetensors, written from the description of the format alone: eight bytes little endian, so many bytes of
 * JSON, the data. It shares no code with what it checks, and its JSON is read by hand.
 */
final class PlainSafetensors {
    private final String text;
    private int at;

    /**
     * A tensor.
     *
     * @param dtype its type, as the file has it
     * @param shape its lengths
     * @param data its bytes, little endian
     */
    record PlainTensor(String dtype, List<Object> shape, ByteBuffer data) {}

    private PlainSafetensors(String text) {
        this.text = text;
    }

    /** Reads all tensors of a file. */
    static Map<String, PlainTensor> read(byte[] file) {
        ByteBuffer bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        int length = Math.toIntExact(bytes.getLong(0));
        Map<String, PlainTensor> tensors = new LinkedHashMap<>();
        object(new String(file, 8, length, StandardCharsets.UTF_8)).forEach((name, value) -> {
            if (!name.equals("__metadata__")) {
                Map<?, ?> fields = (Map<?, ?>) value;
                List<?> offsets = (List<?>) fields.get("data_offsets");
                int begin = ((Long) offsets.get(0)).intValue();
                int end = ((Long) offsets.get(1)).intValue();
                ByteBuffer data = bytes.slice(8 + length + begin, end - begin).order(ByteOrder.LITTLE_ENDIAN);
                List<Object> shape = new ArrayList<>((List<?>) fields.get("shape"));
                tensors.put(name, new PlainTensor((String) fields.get("dtype"), shape, data));
            }
        });
        return tensors;
    }

    /** Reads a JSON object of objects, arrays, strings and integers. */
    static Map<String, Object> object(String text) {
        PlainSafetensors json = new PlainSafetensors(text);
        Map<String, Object> fields = new LinkedHashMap<>();
        ((Map<?, ?>) json.value()).forEach((name, value) -> fields.put((String) name, value));
        return fields;
    }

    private char next() {
        while (Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return text.charAt(at++);
    }

    private Object value() {
        char first = next();
        if (first == '"') {
            return string();
        }
        if (first == '{' || first == '[') {
            return many(first == '{');
        }
        int begin = at - 1;
        while (at < text.length() && Character.isDigit(text.charAt(at))) {
            at++;
        }
        return Long.valueOf(text.substring(begin, at));
    }

    private Object many(boolean named) {
        Map<String, Object> fields = new LinkedHashMap<>();
        char last = named ? '}' : ']';
        for (char found = next(); found != last; found = next()) {
            if (found != ',') {
                at--;
            }
            String name = "" + fields.size();
            if (named) {
                next();
                name = string();
                next();
            }
            fields.put(name, value());
        }
        return named ? fields : new ArrayList<>(fields.values());
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        for (char found = text.charAt(at++); found != '"'; found = text.charAt(at++)) {
            if (found == '\\') {
                found = text.charAt(at++);
                if (found == 'u') {
                    found = (char) Integer.parseInt(text.substring(at, at + 4), 16);
                    at += 4;
                } else if (found == 'n') {
                    found = '\n';
                }
            }
            string.append(found);
        }
        return string.toString();
    }
}
