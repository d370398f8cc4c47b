package ferro.examples.textmodel;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The text to learn from: one file, or the text and source files of a folder in the order of their names, so that every rank
 * reads the same text. The most frequent printable characters have symbols of their own. All others share symbol 0.
 *
 * @param symbols the text
 * @param characters the character of each symbol
 * @param fileCount number of files that the text came from
 */
record TrainingText(byte[] symbols, String characters, int fileCount) {
    /** Largest number of symbols. Symbols fit into a byte, and more symbols would only be rare characters. */
    private static final int MAX_SYMBOLS = 100;

    private static final Set<String> ENDINGS = Set.of(
            "md txt adoc rst java kt scala xml sh py c cc h html css js json yml yaml toml properties csv".split(" "));

    /** Reads the text of a file, or of a folder without its hidden and build folders. */
    static TrainingText read(Path path) {
        Options.require(Files.exists(path), "--text " + path + ": there is no such file or folder");
        StringBuilder all = new StringBuilder();
        int used = 0;
        try {
            for (Path file : Files.isDirectory(path) ? textFilesOf(path) : List.of(path)) {
                String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
                // as for Git, a file with a zero byte is binary
                boolean isText = text.indexOf('\0') < 0 && !text.isBlank();
                // an indentation is one character, which leaves more of the context for words
                all.append(isText ? text.replace("    ", "\t") : "");
                used += isText ? 1 : 0;
            }
        } catch (IOException | UncheckedIOException unreadable) {
            throw new IllegalArgumentException("--text " + path + ": cannot read it (" + unreadable + ")", unreadable);
        }
        Options.require(
                used > 0,
                "--text " + path + ": found no text: choose a file, or a folder with files such as .md,"
                        + " .txt or .java");
        return of(all.toString(), used);
    }

    /** Chooses the symbols of a text. */
    static TrainingText of(String text, int fileCount) {
        int[] counts = new int[Character.MAX_VALUE + 1];
        text.chars().forEach(character -> counts[character]++);
        String characters = '\uFFFD'
                + IntStream.range(0, counts.length)
                        .filter(character -> counts[character] > 0 && !Character.isSurrogate((char) character))
                        // text that is printed must not control a terminal
                        .filter(character -> !Character.isISOControl(character) || "\n\t".indexOf(character) >= 0)
                        .boxed()
                        .sorted(Comparator.comparing((Integer character) -> -counts[character])
                                .thenComparing(each -> each))
                        .limit(MAX_SYMBOLS - 1)
                        .sorted()
                        .map(Character::toString)
                        .collect(Collectors.joining());
        byte[] symbolOf = new byte[counts.length];
        IntStream.range(1, characters.length()).forEach(each -> symbolOf[characters.charAt(each)] = (byte) each);
        byte[] symbols = new byte[text.length()];
        IntStream.range(0, symbols.length).forEach(i -> symbols[i] = symbolOf[text.charAt(i)]);
        return new TrainingText(symbols, characters, fileCount);
    }

    private static List<Path> textFilesOf(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> ENDINGS.contains(file.toString().replaceFirst(".*\\.", "")))
                    .filter(file ->
                            !("/" + folder.relativize(file)).matches(".*/(\\..*|target|build|out|node_modules)/.*"))
                    .filter(Files::isRegularFile)
                    .sorted(Comparator.comparing(file -> folder.relativize(file).toString()))
                    .toList();
        }
    }
}
