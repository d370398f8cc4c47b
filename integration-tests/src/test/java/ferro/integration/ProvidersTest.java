package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A provider is found on the module path by module-info, on the class path by META-INF/services: both must agree. */
class ProvidersTest {
    private static final String SERVICES = "META-INF/services";

    @Test
    void everyModuleNamesTheSameProvidersTwice() throws Exception {
        List<Named> modules = ferroModules();
        assertFalse(modules.isEmpty(), "no module of ferro on the class path");
        assertAll(modules.stream()
                .map(module -> () -> assertEquals(
                        module.declared(), module.listed(), module.name() + ": module-info against " + SERVICES)));
    }

    /** What one module provides, by service: in its declaration and in its files. */
    private record Named(String name, Map<String, Set<String>> declared, Map<String, Set<String>> listed) {}

    private static List<Named> ferroModules() throws IOException, URISyntaxException {
        List<Named> modules = new ArrayList<>();
        for (URL url : Collections.list(ProvidersTest.class.getClassLoader().getResources("module-info.class"))) {
            ModuleDescriptor module = descriptor(url);
            if (module.name().startsWith("ferro.")) {
                modules.add(new Named(module.name(), declared(module), listed(url)));
            }
        }
        return modules;
    }

    private static ModuleDescriptor descriptor(URL url) throws IOException {
        try (InputStream bytes = url.openStream()) {
            return ModuleDescriptor.read(bytes);
        }
    }

    private static Map<String, Set<String>> declared(ModuleDescriptor module) {
        return module.provides().stream()
                .collect(Collectors.toMap(
                        ModuleDescriptor.Provides::service,
                        provides -> new TreeSet<>(provides.providers()),
                        (left, right) -> left,
                        TreeMap::new));
    }

    private static Map<String, Set<String>> listed(URL url) throws IOException, URISyntaxException {
        if (url.openConnection() instanceof JarURLConnection jar) {
            Path file = Path.of(jar.getJarFileURL().toURI());
            try (FileSystem content = FileSystems.newFileSystem(file)) {
                return listed(content.getPath(SERVICES));
            }
        }
        return listed(Path.of(URI.create(url.toString())).resolveSibling(SERVICES));
    }

    private static Map<String, Set<String>> listed(Path folder) throws IOException {
        Map<String, Set<String>> providers = new TreeMap<>();
        if (Files.isDirectory(folder)) {
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file : files.toList()) {
                    providers.put(file.getFileName().toString(), names(file));
                }
            }
        }
        return providers;
    }

    private static Set<String> names(Path file) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.map(line -> line.replaceFirst("#.*", "").trim())
                    .filter(line -> !line.isEmpty())
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }
}
