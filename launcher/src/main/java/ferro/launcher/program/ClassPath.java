package ferro.launcher.program;

import ferro.launcher.input.BadInputException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A class path, such as the class path of ferro's jars with which the launcher was started ({@code java -cp 'lib/*'}).
 *
 * @param entries absolute paths
 */
public record ClassPath(List<String> entries) {
    /** Jars that only the {@code ferro} command needs, and not a program that joins a group. */
    private static final Set<String> OF_THE_COMMAND = Set.of(
            "ferro-launcher",
            "ferro-examples",
            "ferro-benchmarks",
            "error_prone_annotations",
            "failureaccess",
            "gson",
            "guava",
            "picocli",
            "xchart");

    /** Returns the class path of the launcher. */
    public static ClassPath ofLauncher() {
        return parse(System.getProperty("java.class.path"));
    }

    /** Reads a class path in the form of {@code java -cp}. */
    public static ClassPath parse(String text) {
        return new ClassPath(Arrays.stream(text.split(File.pathSeparator))
                .filter(entry -> !entry.isEmpty())
                .map(entry -> Path.of(entry).toAbsolutePath().normalize().toString())
                .toList());
    }

    /** Returns the part of this class path that a user's program needs: contracts, engine, back ends, dependencies. */
    public ClassPath forPrograms() {
        return new ClassPath(entries.stream()
                .filter(entry -> !OF_THE_COMMAND.contains(artifact(entry)))
                .toList());
    }

    /** Returns a class path with the entries of {@code first}, which have precedence, and then these entries. */
    ClassPath behind(ClassPath first) {
        List<String> all = new ArrayList<>(first.entries);
        all.addAll(entries);
        return new ClassPath(List.copyOf(all));
    }

    /** Whether the JVM would find a class or another file on this class path, with wildcards and manifests. */
    boolean holds(String resource) {
        URL[] places = entries.stream()
                .flatMap(ClassPath::expanded)
                .map(ClassPath::url)
                .toArray(URL[]::new);
        try (URLClassLoader loader = new URLClassLoader(places, null)) {
            return loader.findResource(resource) != null;
        } catch (IOException unreadable) {
            throw new BadInputException("class path " + this + " cannot be read (" + unreadable + ")", unreadable);
        }
    }

    /** Returns the entries that do not exist. A wildcard does not exist if its folder does not exist. */
    List<String> missing() {
        return entries.stream()
                .filter(entry ->
                        !Files.exists(isWildcard(entry) ? Path.of(entry).getParent() : Path.of(entry)))
                .toList();
    }

    private static boolean isWildcard(String entry) {
        return entry.endsWith(File.separator + "*");
    }

    /** Returns the jars of the folder before a wildcard, in any order. Returns any other entry unchanged. */
    private static Stream<String> expanded(String entry) {
        if (!isWildcard(entry)) {
            return Stream.of(entry);
        }
        Path folder = Path.of(entry).getParent();
        try (Stream<Path> files = Files.isDirectory(folder) ? Files.list(folder) : Stream.empty()) {
            return files
                    .map(Path::toString)
                    .filter(name -> name.endsWith(".jar") || name.endsWith(".JAR"))
                    .toList()
                    .stream();
        } catch (IOException | UncheckedIOException unreadable) {
            throw new BadInputException(
                    "class path entry " + entry + " cannot be read (" + unreadable + ")", unreadable);
        }
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (MalformedURLException unreadable) {
            throw new BadInputException("class path entry " + entry + " is not a file", unreadable);
        }
    }

    /** Returns the name of a jar without its version, or the module name for a folder of classes in a build. */
    private static String artifact(String entry) {
        Path path = Path.of(entry);
        return path.endsWith(Path.of("target", "classes"))
                ? "ferro-" + path.getParent().getParent().getFileName()
                : path.getFileName().toString().replaceFirst("-\\d.*", "").replaceFirst("\\.jar$", "");
    }

    @Override
    public String toString() {
        return String.join(File.pathSeparator, entries);
    }
}
