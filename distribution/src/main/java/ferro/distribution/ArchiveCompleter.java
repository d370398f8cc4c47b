package ferro.distribution;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Completes the files of the archive: links of pages to files that the archive lacks become plain text, and SHA256SUMS lists
 * every other file.
 */
final class ArchiveCompleter {
    private static final String SUMS = "SHA256SUMS";

    /** A block of code, code in a line, or a link, whose text (group 1) may contain code and brackets;
     * group 2 is the target. */
    private static final Pattern CODE_OR_LINK = Pattern.compile(
            "(?s)```.*?```|!?\\[((?:`[^`\n]*`|\\[[^\\[\\]\n]*\\]|[^\\[\\]`\n])*)\\]\\(([^)\\s]+)\\)|`[^`\n]*`");

    private final Path folder;

    private ArchiveCompleter(Path folder) {
        this.folder = folder;
    }

    /**
     * Changes the pages of a folder, then writes its sums.
     *
     * @param arguments the folder
     * @throws IOException if a file cannot be read or written
     */
    public static void main(String[] arguments) throws IOException {
        ArchiveCompleter contents = new ArchiveCompleter(Path.of(arguments[0]));
        for (Path file : contents.files()) {
            if (file.toString().endsWith(".md")) {
                Files.writeString(file, contents.withoutDeadLinks(file));
            }
        }
        contents.writeSums();
    }

    /** Returns all files but the list of sums, in the order of their names. */
    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile)
                    .filter(file -> !file.equals(folder.resolve(SUMS)))
                    .sorted()
                    .toList();
        }
    }

    private String withoutDeadLinks(Path page) throws IOException {
        return CODE_OR_LINK
                .matcher(Files.readString(page))
                .replaceAll(found -> Matcher.quoteReplacement(isDead(page, found) ? found.group(1) : found.group()));
    }

    private static boolean isDead(Path page, MatchResult found) {
        String target = found.group(2);
        if (target == null || target.contains(":") || target.startsWith("#")) {
            return false;
        }
        return !Files.exists(page.resolveSibling(target.replaceFirst("#.*", "")));
    }

    /** Writes the list as the tool sha256sum reads it. */
    private void writeSums() throws IOException {
        List<String> lines = new ArrayList<>();
        for (Path file : files()) {
            lines.add(HexFormat.of().formatHex(sha256().digest(Files.readAllBytes(file))) + "  "
                    + folder.relativize(file));
        }
        Files.writeString(folder.resolve(SUMS), String.join("\n", lines) + "\n");
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("a JDK without SHA-256, which every JDK must have", missing);
        }
    }
}
