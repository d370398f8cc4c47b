package ferro.launcher.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FerroJarEntriesTest {
    @TempDir
    private Path folder;

    @Test
    void aProgramFolderWithoutFerroClassesStandsAfterFerrosJars() throws IOException {
        write("app/Main.class");
        write("app/META-INF/services/app.Plugin");
        write("app/io/netty/Any.class");

        assertTrue(FerroJarEntries.areMissingIn(path("app")));
        assertFalse(settings("app").programFirst());
    }

    @Test
    void aProgramFolderThatReplacesFerroClassesStandsFirst() throws IOException {
        write("engine/ferro/Backend.class");
        write("netty/META-INF/native/libferro_shaded_netty_any.so");
        write("provider/META-INF/services/ferro.spi.BackendProvider");
        write("newer/META-INF/versions/21/com/sun/jna/Native.class");

        for (String name : List.of("engine", "netty", "provider", "newer")) {
            assertFalse(FerroJarEntries.areMissingIn(path(name)), name);
            assertTrue(settings(name).programFirst(), name);
        }
    }

    @Test
    void aJarIsSearchedUnlessItsManifestNamesOtherJars() throws IOException {
        write("app/Main.class");
        jar("apart.jar", Optional.empty(), "a/b/C.class");
        jar("gson.jar", Optional.empty(), "com/google/gson/Gson.class");
        jar("leads.jar", Optional.of("elsewhere.jar"), "a/b/C.class");

        assertTrue(FerroJarEntries.areMissingIn(path("app", "apart.jar")));
        assertFalse(FerroJarEntries.areMissingIn(path("apart.jar")));
        assertFalse(FerroJarEntries.areMissingIn(path("app", "gson.jar")));
        assertFalse(FerroJarEntries.areMissingIn(path("app", "leads.jar")));
        assertFalse(FerroJarEntries.areMissingIn(path("app", "*")));
    }

    @Test
    void everyEntryOfFerrosJarsHasAFerroName() throws IOException {
        int seen = 0;
        for (String entry : ClassPath.ofLauncher().entries()) {
            if (isFolderOfAModule(entry) || isOurs(Path.of(entry).getFileName().toString())) {
                seen++;
                List<String> others = names(Path.of(entry)).stream()
                        .filter(name -> !FerroJarEntries.hold(name) && !isNote(name))
                        .toList();
                assertEquals(List.of(), others, entry);
            }
        }
        assertTrue(seen > 0);
    }

    /** Whether an entry is what the build has compiled of a module of ferro, and no test. */
    private static boolean isFolderOfAModule(String entry) {
        return entry.endsWith(File.separator + "classes");
    }

    private static List<String> names(Path entry) throws IOException {
        if (Files.isDirectory(entry)) {
            try (Stream<Path> files = Files.walk(entry)) {
                return files.filter(Files::isRegularFile)
                        .map(file -> entry.relativize(file).toString().replace(File.separatorChar, '/'))
                        .toList();
            }
        }
        try (JarFile jar = new JarFile(entry.toFile())) {
            return jar.stream()
                    .filter(file -> !file.isDirectory())
                    .map(ZipEntry::getName)
                    .toList();
        }
    }

    /** Not what only tests or builds need. */
    private static boolean isOurs(String jar) {
        return jar.endsWith(".jar")
                && List.of("ferro-", "jna-", "gson-", "guava-", "failureaccess-", "error_prone_", "picocli-", "xchart-")
                        .stream()
                        .anyMatch(jar::startsWith);
    }

    /** What tools read, each jar's by itself. */
    private static boolean isNote(String name) {
        return name.endsWith("module-info.class")
                || name.matches("META-INF/(maven|native-image|proguard|versions/\\d+/OSGI-INF)/.*")
                || name.matches(
                        "META-INF/(MANIFEST.MF|INDEX.LIST|(LICENSE|NOTICE)(.txt)?|licenses?/.*|AL2.0|LGPL2.1|jpms.args)");
    }

    private JavaSettings settings(String name) {
        return JavaSettings.of(Optional.of(path(name).toString()), List.of(), Map.of());
    }

    private ClassPath path(String... names) {
        return new ClassPath(
                List.of(names).stream().map(name -> folder + "/" + name).toList());
    }

    private void write(String name) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "");
    }

    private void jar(String name, Optional<String> leadsTo, String file) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        leadsTo.ifPresent(to -> manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, to));
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(folder.resolve(name)), manifest)) {
            jar.putNextEntry(new ZipEntry(file));
        }
    }
}
