package ferro.launcher.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FerroNamesTest {
    @TempDir
    private Path folder;

    @Test
    void folderWithoutAnythingOfOursStandsBehindOurJars() throws IOException {
        write("app/Main.class");
        write("app/META-INF/services/app.Plugin");

        assertTrue(FerroNames.areMissingIn(path("app")));
        assertFalse(settings("app").programFirst());
    }

    @Test
    void folderThatReplacesSomethingOfOursStandsFirst() throws IOException {
        write("engine/ferro/Backend.class");
        write("netty/io/netty/Any.class");
        write("provider/META-INF/services/ferro.spi.BackendProvider");
        write("newer/META-INF/versions/21/com/sun/jna/Native.class");

        for (String name : List.of("engine", "netty", "provider", "newer")) {
            assertFalse(FerroNames.areMissingIn(path(name)), name);
            assertTrue(settings(name).programFirst(), name);
        }
    }

    @Test
    void jarIsLookedThroughUnlessItsManifestWouldBeTheFirst() throws IOException {
        write("app/Main.class");
        jar("apart.jar", Optional.empty(), "a/b/C.class");
        jar("gson.jar", Optional.empty(), "com/google/gson/Gson.class");
        jar("leads.jar", Optional.of("elsewhere.jar"), "a/b/C.class");

        assertTrue(FerroNames.areMissingIn(path("app", "apart.jar")));
        assertFalse(FerroNames.areMissingIn(path("apart.jar")));
        assertFalse(FerroNames.areMissingIn(path("app", "gson.jar")));
        assertFalse(FerroNames.areMissingIn(path("app", "leads.jar")));
        assertFalse(FerroNames.areMissingIn(path("app", "*")));
    }

    @Test
    void everythingInOurJarsGoesByANameOfOurs() throws IOException {
        int seen = 0;
        for (String entry : ClassPath.ofLauncher().entries()) {
            if (entry.endsWith(".jar") && isOurs(Path.of(entry).getFileName().toString())) {
                seen++;
                try (JarFile jar = new JarFile(entry)) {
                    List<String> others = jar.stream()
                            .map(ZipEntry::getName)
                            .filter(name -> !name.endsWith("/") && !FerroNames.hold(name) && !isNote(name))
                            .toList();
                    assertEquals(List.of(), others, entry);
                }
            }
        }
        assertTrue(seen > 0);
    }

    /** Not what only tests or builds need. */
    private static boolean isOurs(String jar) {
        return !jar.startsWith("picocli-codegen-")
                && List.of(
                                "ferro-",
                                "netty-",
                                "jna-",
                                "gson-",
                                "guava-",
                                "failureaccess-",
                                "error_prone_",
                                "picocli-",
                                "xchart-")
                        .stream()
                        .anyMatch(jar::startsWith);
    }

    /** What tools read, each jar's by itself. */
    private static boolean isNote(String name) {
        return name.endsWith("module-info.class")
                || name.matches("META-INF/(maven|native-image|proguard|versions/\\d+/OSGI-INF)/.*")
                || name.matches(
                        "META-INF/(MANIFEST.MF|INDEX.LIST|(LICENSE|NOTICE)(.txt)?|license/.*|AL2.0|LGPL2.1|jpms.args)");
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
