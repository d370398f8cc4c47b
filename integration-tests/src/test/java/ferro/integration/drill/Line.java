package ferro.integration.drill;

import ferro.FerroException;
import ferro.integration.Culprits;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * One line between a rank of the drill and the test: {@code tag key=value key=value | text}.
 *
 * @param tag    what it is about
 * @param values without blanks, in the order they were added
 * @param text   for people
 */
public record Line(String tag, Map<String, String> values, String text) {
    private static final String BAR = " | ";

    public static Line of(String tag) {
        return new Line(tag, new LinkedHashMap<>(), "");
    }

    public static Line of(String tag, FerroException failure) {
        FerroException.Where where = failure.where();
        return of(tag).with("code", failure.code())
                .with("culprits", Culprits.of(failure))
                .with("op", where.operation())
                .with("seq", where.sequence())
                .with("step", where.step())
                .with("bytes", where.bytesMoved())
                .with("elapsed", where.elapsed().toNanos())
                .with("paused", where.paused().toNanos())
                .saying(failure.getMessage());
    }

    public static Line parse(String printed) {
        int bar = printed.indexOf(BAR);
        String[] words = (bar < 0 ? printed : printed.substring(0, bar)).strip().split(" ");
        Line line = of(words[0]);
        for (String word : Arrays.asList(words).subList(1, words.length)) {
            int equals = word.indexOf('=');
            line.values.put(word.substring(0, equals), word.substring(equals + 1));
        }
        return new Line(line.tag, line.values, bar < 0 ? "" : printed.substring(bar + BAR.length()));
    }

    public Line with(String key, Object value) {
        values.put(key, ("" + value).replace(' ', '_'));
        return this;
    }

    public Line saying(String said) {
        return new Line(tag, values, ("" + said).replace('\n', ' '));
    }

    public String value(String key) {
        String value = values.get(key);
        if (value == null) {
            throw new IllegalArgumentException("no " + key + " in " + this);
        }
        return value;
    }

    public long number(String key) {
        return Long.parseLong(value(key));
    }

    String cause() {
        return value("code") + " of " + culprits();
    }

    public List<Integer> culprits() {
        return Arrays.stream(value("culprits").split(","))
                .map(String::strip)
                .filter(rank -> !rank.isEmpty())
                .map(Integer::valueOf)
                .toList();
    }

    @Override
    public String toString() {
        String all = values.entrySet().stream()
                .map(entry -> " " + entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining());
        return tag + all + (text.isEmpty() ? "" : BAR + text);
    }
}
