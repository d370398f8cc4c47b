package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Jvm;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.SegmentSize;
import ferro.spi.Services;
import ferro.spi.SharedMemory;
import ferro.spi.SharedMemoryProvider;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.FieldSource;

/** Providers are found whatever the context class loader of the calling thread is. */
class ProviderLoadersTest {
    static final List<String> TYPES = List.of(
            "ferro.spi.BackendProvider",
            "ferro.spi.StoreProvider",
            "ferro.spi.SharedMemoryProvider",
            "ferro.dispatch.HostFallback",
            "ferro.dispatch.DeviceMemoryProvider",
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
    void ferroInAChildLoaderFindsItsProviders() throws Exception {
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

    /** As in a jar that was made of several, of whose files with one name it has kept one or none. */
    @ParameterizedTest
    @FieldSource("TYPES")
    void providersAreFoundByNameWithoutTheirServiceFile(String type) throws Exception {
        Set<String> all = new TreeSet<>();
        for (ServiceLoader.Provider<?> one : Services.providers(Class.forName(type))) {
            all.add(one.type().getName());
        }
        try (WithoutServiceFiles lost = new WithoutServiceFiles(type)) {
            assertEquals(all, lost.found(type));
        }
        assertTrue(!all.isEmpty(), "no " + type);
    }

    @ParameterizedTest
    @EnumSource(Links.class)
    void aJobRunsWithoutAnyServiceFile(Links links) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(UsesFerroInALoader.RANKS);
        try (WithoutServiceFiles lost = new WithoutServiceFiles("")) {
            assertEquals(UsesFerroInALoader.RANKS, ((Set<?>) lost.job(threads, links)).size());
        } finally {
            threads.shutdownNow();
        }
    }

    /** Has its own ferro, without the files of META-INF/services whose names begin like this. */
    private static final class WithoutServiceFiles extends URLClassLoader {
        private final String lost;

        WithoutServiceFiles(String lost) throws Exception {
            super(classPath(), ClassLoader.getPlatformClassLoader());
            this.lost = "META-INF/services/" + lost;
        }

        @Override
        public Enumeration<URL> findResources(String name) throws IOException {
            return name.startsWith(lost) ? Collections.emptyEnumeration() : super.findResources(name);
        }

        Set<String> found(String type) throws ReflectiveOperationException {
            Iterable<?> providers = (Iterable<?>) loadClass(Services.class.getName())
                    .getMethod("providers", Class.class)
                    .invoke(null, loadClass(type));
            Set<String> names = new TreeSet<>();
            for (Object one : providers) {
                ServiceLoader.Provider<?> provider = (ServiceLoader.Provider<?>) one;
                assertEquals(this, provider.get().getClass().getClassLoader(), type);
                names.add(provider.type().getName());
            }
            return names;
        }

        @SuppressWarnings("unchecked")
        Object job(ExecutorService threads, Links links) throws ReflectiveOperationException {
            var job = (BiFunction<ExecutorService, String, Object>) loadClass(UsesFerroInALoader.class.getName())
                    .getConstructor()
                    .newInstance();
            return job.apply(threads, links.name());
        }
    }

    @Test
    void aProviderOfTheContextLoaderComesAfterFerrosOwn() throws Exception {
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
        List<URL> all = new ArrayList<>();
        for (String entry : Jvm.classPath().split(File.pathSeparator)) {
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
