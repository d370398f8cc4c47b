package ferro.integration.release;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The sources of this checkout. */
final class Checkout {
    static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    /** Folders that builds, tools and git make. */
    private static final Set<String> MADE = Set.of("target", ".git", ".ferro", ".gpu", ".idea", ".vscode");

    private static final Pattern GROUP = Pattern.compile("<groupId>([^<]+)</groupId>");
    private static final Pattern RELEASE = Pattern.compile("<id>release</id>\\s*<properties>\\s*<revision>([^<]+)<");

    private Checkout() {}

    /** Returns the group of ferro's artifacts, which {@code .ci/coordinates} changes. */
    static String group() throws IOException {
        return group(ROOT);
    }

    /** Returns the group that the pom of a folder names first. */
    static String group(Path folder) throws IOException {
        return only(GROUP, folder);
    }

    /** Returns the version that profile release stages. */
    static String releaseVersion() throws IOException {
        return only(RELEASE, ROOT);
    }

    private static String only(Pattern pattern, Path folder) throws IOException {
        Matcher found = pattern.matcher(Files.readString(folder.resolve("pom.xml")));
        if (!found.find()) {
            throw new IOException(folder.resolve("pom.xml") + " has no " + pattern);
        }
        return found.group(1);
    }

    /** Copies the sources of this checkout, or of a folder in it, to a folder. */
    static Path copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
                if (MADE.contains(folder.getFileName().toString())) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                Files.createDirectories(to.resolve(from.relativize(folder)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.copy(file, to.resolve(from.relativize(file)));
                return FileVisitResult.CONTINUE;
            }
        });
        return to;
    }
}
