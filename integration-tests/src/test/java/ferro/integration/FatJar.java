package ferro.integration;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/** One jar made of many, as tools make it. */
final class FatJar {
    private static final String SERVICES = "META-INF/services/";

    private FatJar() {}

    /** Which of several files of services with one name. */
    enum Kept {
        FIRST,
        LAST,
        NONE
    }

    /** Puts all that programs of tests need into one jar, of other files with one name the first. */
    static void write(Path jar, Kept kept) throws IOException {
        List<Path> parts = new ArrayList<>(Arrays.stream(LauncherRun.classPath().split(File.pathSeparator))
                .map(Path::of)
                .toList());
        if (kept == Kept.LAST) {
            Collections.reverse(parts);
        }
        Set<String> taken = new HashSet<>();
        try (JarOutputStream to = new JarOutputStream(Files.newOutputStream(jar))) {
            to.setLevel(0);
            for (Path part : parts) {
                if (Files.isDirectory(part)) {
                    addFolder(part, to, taken, kept);
                } else if (Files.exists(part)) {
                    addJar(part, to, taken, kept);
                }
            }
        }
    }

    private static void addFolder(Path part, JarOutputStream to, Set<String> taken, Kept kept) throws IOException {
        try (Stream<Path> files = Files.walk(part)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String name = part.relativize(file).toString().replace(File.separatorChar, '/');
                try (InputStream from = Files.newInputStream(file)) {
                    add(name, from, to, wanted(name, taken, kept));
                }
            }
        }
    }

    private static void addJar(Path part, JarOutputStream to, Set<String> taken, Kept kept) throws IOException {
        try (JarFile jar = new JarFile(part.toFile())) {
            for (JarEntry entry : Collections.list(jar.entries())) {
                if (!entry.isDirectory()) {
                    try (InputStream from = jar.getInputStream(entry)) {
                        add(entry.getName(), from, to, wanted(entry.getName(), taken, kept));
                    }
                }
            }
        }
    }

    private static boolean wanted(String name, Set<String> taken, Kept kept) {
        boolean lost = kept == Kept.NONE && name.startsWith(SERVICES);
        return !lost && !name.equals(JarFile.MANIFEST_NAME) && taken.add(name);
    }

    private static void add(String name, InputStream from, JarOutputStream to, boolean wanted) throws IOException {
        if (wanted) {
            to.putNextEntry(new JarEntry(name));
            from.transferTo(to);
            to.closeEntry();
        }
    }
}
