package ferro.examples.textmodel;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * The text to learn from. The text comes from one file, or from the text and source files of a folder in the order of
 * their names. Every rank therefore reads the same text.
 *
 * @param text      the full text, with four blanks in a row replaced by one tab
 * @param fileCount number of files that the text came from
 */
record TextSource(String text, int fileCount) {
    /**
     * Indentation that is replaced by one character. Source files have much indentation. Shorter indentation leaves
     * more of the context for words.
     */
    static final String INDENTATION = " ".repeat(4);

    private static final long MAX_BYTES = 64L << 20;
    private static final Set<String> ENDINGS = Set.of(
            "md",
            "txt",
            "adoc",
            "rst",
            "java",
            "kt",
            "scala",
            "xml",
            "sh",
            "py",
            "c",
            "cc",
            "h",
            "html",
            "css",
            "js",
            "json",
            "yml",
            "yaml",
            "toml",
            "properties",
            "csv");
    private static final Set<String> BUILD_FOLDERS = Set.of("target", "build", "out", "node_modules");

    /**
     * Reads the text.
     *
     * @param path file, or folder whose hidden and build folders are left out
     * @return text
     * @throws UsageException if the path does not exist, is not readable, has no text, or has more than 64 MiB; the
     *     message names the path
     */
    static TextSource read(Path path) {
        if (!Files.exists(path)) {
            throw new UsageException("--text " + path + ": there is no such file or folder");
        }
        try {
            List<Path> files = Files.isDirectory(path) ? textFilesOf(path) : List.of(path);
            TextSource source = join(path, files);
            if (source.text.isBlank()) {
                throw new UsageException("--text " + path + ": found no text in " + files.size()
                        + " files: choose a file, or a folder with files such as .md, .txt or .java");
            }
            return source;
        } catch (IOException unreadable) {
            throw new UsageException("--text " + path + ": cannot read it (" + unreadable + ")", unreadable);
        }
    }

    private static TextSource join(Path path, List<Path> files) throws IOException {
        StringBuilder all = new StringBuilder();
        long bytes = 0;
        int used = 0;
        for (Path file : files) {
            bytes += Files.size(file);
            if (bytes > MAX_BYTES) {
                throw new UsageException("--text " + path + ": more than " + (MAX_BYTES >> 20)
                        + " MiB of text, reached at " + file + ": choose a smaller folder or file");
            }
            String text = Files.isRegularFile(file) ? textOf(file) : "";
            all.append(text);
            used += text.isEmpty() ? 0 : 1;
        }
        return new TextSource(all.toString(), used);
    }

    /**
     * Returns the text of a file, or an empty text for a file with a zero byte. Git also treats such a file as binary.
     */
    private static String textOf(Path file) throws IOException {
        String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        return text.indexOf('\0') < 0 ? text.replace(INDENTATION, "\t") : "";
    }

    private static List<Path> textFilesOf(Path folder) throws IOException {
        List<Path> files = new ArrayList<>();
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path visited, BasicFileAttributes attributes) {
                String name = nameOf(visited);
                boolean skipped = !visited.equals(folder) && (name.startsWith(".") || BUILD_FOLDERS.contains(name));
                return skipped ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path visited, BasicFileAttributes attributes) {
                String name = nameOf(visited);
                if (attributes.isRegularFile() && ENDINGS.contains(name.substring(name.lastIndexOf('.') + 1))) {
                    files.add(visited);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        files.sort(Comparator.comparing(file -> folder.relativize(file).toString()));
        return files;
    }

    private static String nameOf(Path path) {
        return path.getFileName() == null ? "" : path.getFileName().toString();
    }
}
