package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.SegmentSize;
import ferro.spi.Services;
import ferro.spi.SharedMemory;
import ferro.spi.SharedMemoryProvider;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Providers are found whatever the context class loader of the calling thread is. */
class ProviderLoadersTest {
    private static final List<String> TYPES = List.of(
            "ferro.spi.BackendProvider",
            "ferro.spi.StoreProvider",
            "ferro.spi.SharedMemoryProvider",
            "ferro.dispatch.HostFallback",
            "ferro.spi.JobTool");

    private final ClassLoader before = Thread.currentThread().getContextClassLoader();

    @TempDir
    private Path folder;

    @AfterEach
    void restore() {
        Thread.currentThread().setContextClassLoader(before);
    }

    /** As the thread of a pool, where ferro's jars belong to a child of the loader of the application. */
    @Test
    void ferroInAChildLoaderFindsItsProvidersWithoutAContextLoader() throws Exception {
        try (URLClassLoader child = new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
            Class<?> services = child.loadClass(Services.class.getName());
            assertNotSame(Services.class, services);
            for (ClassLoader near : new ClassLoader[] {null, ClassLoader.getPlatformClassLoader(), before}) {
                Thread.currentThread().setContextClassLoader(near);
                for (String type : TYPES) {
                    Iterable<?> found =
                            (Iterable<?>) services.getMethod("of", Class.class).invoke(null, child.loadClass(type));
                    List<Object> all = new ArrayList<>();
                    found.forEach(all::add);
                    assertTrue(!all.isEmpty(), "no " + type + " with the context loader " + near);
                    all.forEach(one -> assertEquals(child, one.getClass().getClassLoader(), type));
                }
            }
        }
    }

    @Test
    void aProviderThatOnlyTheContextLoaderSeesComesAfterFerrosOwnAndOnce() throws Exception {
        Path entries = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(entries.resolve(SharedMemoryProvider.class.getName()), ProgramMemoryProvider.class.getName());
        List<Class<?>> own = classes();
        try (URLClassLoader near = new URLClassLoader(new URL[] {folder.toUri().toURL()}, before)) {
            Thread.currentThread().setContextClassLoader(near);
            List<Class<?>> expected = new ArrayList<>(own);
            expected.add(ProgramMemoryProvider.class);
            assertEquals(expected, classes());
        }
    }

    private static List<Class<?>> classes() {
        List<Class<?>> found = new ArrayList<>();
        for (ServiceLoader.Provider<SharedMemoryProvider> one : Services.providers(SharedMemoryProvider.class)) {
            found.add(one.type());
        }
        return found;
    }

    static URL[] classPath() throws Exception {
        String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<URL> all = new ArrayList<>();
        for (String entry : path.split(File.pathSeparator)) {
            all.add(Path.of(entry).toUri().toURL());
        }
        return all.toArray(URL[]::new);
    }

    /** Shared memory that a program brings. */
    public static final class ProgramMemoryProvider implements SharedMemoryProvider {
        @Override
        public Optional<String> unavailableBecause(RankContext context) {
            return Optional.of("only a name");
        }

        @Override
        public String host(RankContext context) {
            return "";
        }

        @Override
        public SharedMemory open(GroupSpec group, RankContext context, SegmentSize size) {
            throw new UnsupportedOperationException("only a name, asked for " + size);
        }
    }
}
