package ferro.integration;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The checkout: its files without those that the build makes, and the coordinates of its artifacts. */
public final class Checkout {
    public static final Path ROOT = Path.of("..");
    /** Folders that builds, tools and git make. */
    private static final Set<String> MADE =
            Set.of("target", ".git", ".ferro", ".gpu", ".idea", ".vscode", "node_modules");

    private static final Pattern GROUP = Pattern.compile("<groupId>([^<]+)</groupId>");
    private static final Pattern RELEASE = Pattern.compile("<id>release</id>\\s*<properties>\\s*<revision>([^<]+)<");

    private Checkout() {}

    /** Returns the group of ferro's artifacts, which {@code .ci/coordinates} changes. */
    public static String group() throws IOException {
        return group(ROOT);
    }

    public static String group(Path folder) throws IOException {
        return only(GROUP, folder);
    }

    public static String releaseVersion() throws IOException {
        return only(RELEASE, ROOT);
    }

    private static String only(Pattern pattern, Path folder) throws IOException {
        Matcher found = pattern.matcher(Files.readString(folder.resolve("pom.xml")));
        if (!found.find()) {
            throw new IOException(folder.resolve("pom.xml") + " has no " + pattern);
        }
        return found.group(1);
    }

    public static List<Path> endingWith(String end) throws IOException {
        return in(ROOT).stream().filter(file -> file.toString().endsWith(end)).toList();
    }

    public static Path copy(Path from, Path to) throws IOException {
        for (Path file : in(from)) {
            Path copy = to.resolve(from.relativize(file));
            Files.createDirectories(copy.getParent());
            Files.copy(file, copy);
        }
        return to;
    }

    private static List<Path> in(Path root) throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return MADE.contains(folder.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                found.add(file);
                return FileVisitResult.CONTINUE;
            }
        });
        return found;
    }
}
