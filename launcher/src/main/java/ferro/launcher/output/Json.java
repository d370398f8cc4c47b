package ferro.launcher.output;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Writes maps, lists, texts, numbers and booleans as JSON, in the order of the map. */
public final class Json {
    private Json() {}

    /** Returns a value of maps, lists, texts and numbers as indented JSON. */
    public static String text(Object value) {
        if (value instanceof Optional<?> maybe) {
            return maybe.map(Json::text).orElse("null");
        }
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(entry -> quoted(entry.getKey().toString()) + ":" + text(entry.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof List<?> list) {
            return list.stream().map(Json::text).collect(Collectors.joining(",", "[", "]"));
        }
        return value instanceof Number || value instanceof Boolean ? value.toString() : quoted(value.toString());
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (Iterator<Integer> points = text.codePoints().iterator(); points.hasNext(); ) {
            int point = points.next();
            if (point == '"' || point == '\\') {
                quoted.append('\\').appendCodePoint(point);
            } else if (point < ' ') {
                quoted.append(String.format("\\u%04x", point));
            } else {
                quoted.appendCodePoint(point);
            }
        }
        return quoted.append('"').toString();
    }
}
