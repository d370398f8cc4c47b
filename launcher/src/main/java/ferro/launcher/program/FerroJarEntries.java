package ferro.launcher.program;

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
 * The names of the files in ferro's jars, and a check whether a class path of the user has files with these names.
 *
 * <p>If the user's class path has no file with a name of ferro, no lookup by name depends on the order of the two class
 * paths, so ferro's jars may come first. The JVM can take ferro's classes from an archive only if ferro's jars come
 * first.
 */
final class FerroJarEntries {
    /** Packages of ferro, and other files that are looked up by name. A test compares this list with the jars. */
    private static final List<String> BEGINNINGS = List.of(
            "ferro/",
            "com/sun/jna/",
            "com/google/common/",
            "com/google/gson/",
            "com/google/thirdparty/",
            "com/google/errorprone/",
            "org/knowm/xchart/",
            "picocli/",
            "META-INF/services/ferro.",
            "META-INF/native/libferro_shaded_",
            "META-INF/ferro.shaded.");

    private static final Pattern VERSION = Pattern.compile("^META-INF/versions/\\d+/");
    /** Limit of names in all jars. To read this many names takes about as long as an archive saves. */
    private static final int MOST_FILES = 20_000;

    private final ClassPath program;
    private int files;

    private FerroJarEntries(ClassPath program) {
        this.program = program;
    }

    /** Whether a class path certainly has no file with a name of ferro. */
    static boolean areMissingIn(ClassPath program) {
        return new FerroJarEntries(program).missing();
    }

    /** Whether a path inside a jar is a name of ferro. */
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
            // the JVM reports this error
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
                    .noneMatch(FerroJarEntries::hold);
        }
    }

    /**
     * Whether a jar has no name of ferro. The first entry is rejected, because a program that asks for any manifest
     * finds the manifest of the first jar. Wildcards are rejected, because their expansion costs more time than an
     * archive saves.
     */
    private boolean jar(Path path, boolean first) throws IOException {
        if (first || !Files.isRegularFile(path)) {
            return false;
        }
        try (JarFile jar = new JarFile(path.toFile(), false)) {
            files += jar.size();
            return files <= MOST_FILES && !leadsOn(jar) && jar.stream().noneMatch(file -> hold(file.getName()));
        }
    }

    /** Whether the manifest of a jar adds further jars to the class path. */
    private static boolean leadsOn(JarFile jar) throws IOException {
        return Optional.ofNullable(jar.getManifest())
                .map(Manifest::getMainAttributes)
                .map(main -> main.getValue(Attributes.Name.CLASS_PATH))
                .isPresent();
    }
}
