package ferro.launcher;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What ferro's jars have files of, and whether a class path of the user has some too.
 *
 * <p>Where it has none, nothing that a program asks for by name depends on which of the two stands first, and ferro's jars may:
 * only then can the JVM take their classes from an archive.
 */
final class FerroNames {
    /** Packages, and the files outside of them that somebody looks up by name; a test compares this with the jars. */
    private static final List<String> BEGINNINGS = List.of(
            "ferro/",
            "io/netty/",
            "com/sun/jna/",
            "com/google/common/",
            "com/google/gson/",
            "com/google/thirdparty/",
            "com/google/errorprone/",
            "org/knowm/xchart/",
            "picocli/",
            "META-INF/services/ferro.",
            "META-INF/services/reactor.blockhound.",
            "META-INF/native/libnetty",
            "META-INF/io.netty.");

    private static final Pattern VERSION = Pattern.compile("^META-INF/versions/\\d+/");
    /** Of all jars together: looking through as many takes about as long as an archive saves. */
    private static final int MOST_FILES = 20_000;

    private final ClassPath program;
    private int files;

    private FerroNames(ClassPath program) {
        this.program = program;
    }

    /** Whether a class path surely has nothing that goes by a name of ours. */
    static boolean areMissingIn(ClassPath program) {
        return new FerroNames(program).missing();
    }

    /** Whether a file, by its path inside a jar, goes by a name of ours. */
    static boolean hold(String file) {
        String name =
                file.startsWith("META-INF/versions/") ? VERSION.matcher(file).replaceFirst("") : file;
        return BEGINNINGS.stream().anyMatch(name::startsWith);
    }

    private boolean missing() {
        try {
            for (int entry = 0; entry < program.entries().size(); entry++) {
                Path path = Path.of(program.entries().get(entry));
                boolean apart = Files.isDirectory(path) ? folder(path) : jar(path, entry == 0);
                if (!apart) {
                    return false;
                }
            }
            return true;
        } catch (IOException unreadable) {
            // for the JVM to judge
            return false;
        }
    }

    private static boolean folder(Path folder) throws IOException {
        if (BEGINNINGS.stream().anyMatch(name -> name.endsWith("/") && Files.isDirectory(folder.resolve(name)))) {
            return false;
        }
        Path notes = folder.resolve("META-INF");
        if (!Files.isDirectory(notes)) {
            return true;
        }
        try (Stream<Path> found = Files.walk(notes)) {
            return found.map(file -> folder.relativize(file).toString().replace(File.separatorChar, '/'))
                    .noneMatch(FerroNames::hold);
        }
    }

    /** A first jar's manifest is what a program finds that asks for any; a wildcard is not worth expanding. */
    private boolean jar(Path path, boolean first) throws IOException {
        if (first || !Files.isRegularFile(path)) {
            return false;
        }
        try (JarFile jar = new JarFile(path.toFile(), false)) {
            files += jar.size();
            return files <= MOST_FILES && !leadsOn(jar) && jar.stream().noneMatch(file -> hold(file.getName()));
        }
    }

    /** Whether it puts further jars on the class path. */
    private static boolean leadsOn(JarFile jar) throws IOException {
        return Optional.ofNullable(jar.getManifest())
                .map(Manifest::getMainAttributes)
                .map(main -> main.getValue(Attributes.Name.CLASS_PATH))
                .isPresent();
    }
}
