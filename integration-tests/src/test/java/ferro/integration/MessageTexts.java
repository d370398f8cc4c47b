package ferro.integration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The string literals of the product's sources, joined where they are added, and the same without what is filled in. */
record MessageTexts(Set<String> literals, List<String> parts) {
    private static final Pattern TOKEN = Pattern.compile(
            "//[^\n]*|/\\*.*?\\*/|\"\"\"(?<block>.*?)\"\"\"|\"(?<text>(?:[^\"\\\\\n]|\\\\.)*+)\"|'(?:[^'\\\\]|\\\\.)+'",
            Pattern.DOTALL);
    private static final Pattern FILLED_IN = Pattern.compile("%[-0-9.,]*[a-z]|\n");
    private static final int SHORT = 5;
    /** What joins texts and values; too short to be told from any other two characters. */
    private static final List<String> JOINTS = List.of(
            " ", ": ", ", ", "; ", "\"", "(", ")", "[", "]", "=", " by ", " and ", " of ", " on ", " at ", " (", " ms",
            " s", "seq ", "none", "in ");
    /** A time in seconds has one decimal; a number without a decimal is not a time in seconds. */
    private static final Pattern VALUE = Pattern.compile("\"[^\"]*\"|\\[[0-9, ]*]|[0-9]+\\.[0-9](?= s\\b)"
            + "|[0-9]+(?![0-9.]|  *s\\b)|[a-z]+[A-Z]\\w*|f32|sum|ring|barrier|recv|[A-Z_]{3,}(?==)");

    static MessageTexts ofTheProduct() throws IOException {
        Set<String> literals = new LinkedHashSet<>();
        for (Path file : MainSources.of(module -> true)) {
            addLiterals(Files.readString(file), literals);
        }
        Set<String> parts = new LinkedHashSet<>();
        for (String literal : literals) {
            parts.addAll(List.of(FILLED_IN.split(literal)));
        }
        return new MessageTexts(
                literals, parts.stream().filter(part -> part.length() >= SHORT).toList());
    }

    private static void addLiterals(String source, Set<String> literals) {
        StringBuilder text = new StringBuilder();
        int end = 0;
        for (Matcher token = TOKEN.matcher(source); token.find(); ) {
            String block = token.group("block");
            String found = block == null ? token.group("text") : block;
            if (found != null) {
                if (!source.substring(end, token.start()).matches("\\s*\\+\\s*")) {
                    literals.add(text.toString());
                    text.setLength(0);
                }
                text.append(found.replace("\\\"", "\"").replace("\\n", "\n").replace("\\\\", "\\"));
                end = token.end();
            }
        }
        literals.add(text.toString());
    }

    boolean has(String words) {
        return literals.stream().anyMatch(literal -> literal.contains(words));
    }

    /**
     * Returns from where on a message is not made of whole texts of the product, of values, and of words that only its
     * example has; empty if all of it is.
     */
    String strange(String message, List<String> ofTheExample) {
        List<String> known = new ArrayList<>(parts);
        known.addAll(JOINTS);
        known.addAll(ofTheExample);
        boolean[] reached = new boolean[message.length() + 1];
        reached[0] = true;
        Matcher value = VALUE.matcher(message).useTransparentBounds(true);
        int last = 0;
        for (int at = 0; at < message.length(); at++) {
            if (reached[at]) {
                last = at;
                for (String text : known) {
                    if (message.startsWith(text, at)) {
                        reached[at + text.length()] = true;
                    }
                }
                boolean begins = at == 0 || !Character.isLetterOrDigit(message.charAt(at - 1));
                if (begins && value.region(at, message.length()).lookingAt()) {
                    reached[value.end()] = true;
                }
            }
        }
        return reached[message.length()] ? "" : message.substring(last);
    }
}
