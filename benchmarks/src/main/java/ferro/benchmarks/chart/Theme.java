package ferro.benchmarks.chart;

import java.awt.Color;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Colours, dashes and fonts by name, for light and for dark pages. The file config/theme/theme.css lists them. */
public final class Theme {
    private static final String FILE = "theme.css";
    private static final String DARK = "@media (prefers-color-scheme: dark)";
    private static final Pattern ENTRY = Pattern.compile("--([a-z0-9-]+): ([^;]+);");

    private final Map<String, String> light;
    private final Map<String, String> dark;

    private Theme(String css) {
        int cut = css.indexOf(DARK);
        light = entries(css.substring(0, cut));
        dark = new TreeMap<>(light);
        dark.putAll(entries(css.substring(cut)));
    }

    /**
     * Reads the theme.
     *
     * @return the theme
     * @throws IllegalStateException if the file is missing on the class path
     */
    public static Theme load() {
        try (InputStream css = Theme.class.getResourceAsStream(FILE)) {
            if (css == null) {
                throw new IllegalStateException(FILE + " is not on the class path of ferro-benchmarks");
            }
            return new Theme(new String(css.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(FILE + " of ferro-benchmarks cannot be read", unreadable);
        }
    }

    private static Map<String, String> entries(String css) {
        Map<String, String> entries = new TreeMap<>();
        ENTRY.matcher(css).results().forEach(entry -> entries.put(entry.group(1), entry.group(2)));
        return entries;
    }

    /**
     * {@return the text of an entry for a light page}
     *
     * @param name name of the entry without leading hyphens, such as {@code ferro}
     * @throws IllegalArgumentException if no entry has this name
     */
    public String light(String name) {
        return entry(light, name);
    }

    /**
     * {@return the text of an entry for a dark page}
     *
     * @param name name of the entry without leading hyphens, such as {@code page}
     * @throws IllegalArgumentException if no entry has this name
     */
    public String dark(String name) {
        return entry(dark, name);
    }

    private static String entry(Map<String, String> entries, String name) {
        String text = entries.get(name);
        if (text == null) {
            throw new IllegalArgumentException(FILE + " has no entry " + name + ", only " + entries.keySet());
        }
        return text;
    }

    /** Returns a colour for a light page. Images have the colours of light pages. */
    Color color(String name) {
        return Color.decode(light(name));
    }

    /** Returns the lengths of strokes and gaps of lines for a medium; null for a solid line. */
    float[] dash(LineMedium medium) {
        String text = light(medium.entry());
        if (text.equals("none")) {
            return null;
        }
        String[] lengths = text.split(" ");
        float[] dash = new float[lengths.length];
        for (int i = 0; i < dash.length; i++) {
            dash[i] = Float.parseFloat(lengths[i]);
        }
        return dash;
    }
}
