package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A join ends at once if a class cannot be loaded that only threads of Netty use. */
@Tag("long")
class UnloadableClassesTest {
    /** A third of the deadline of the join. */
    private static final Duration AT_ONCE = JoinsInALoader.DEADLINE.dividedBy(3);

    @ParameterizedTest
    @ValueSource(strings = {"off", "on"})
    void aJoinFailsAtOnceIfANettyThreadCannotLoadAClass(String tls) throws Exception {
        Set<String> late = new TreeSet<>();
        ExecutorService threads = Executors.newCachedThreadPool();
        try (URLClassLoader libraries =
                new URLClassLoader(ProviderLoadersTest.classPath(), ClassLoader.getPlatformClassLoader())) {
            Set<String> used = usedByLoops(libraries, threads, tls);
            for (String name : used) {
                long start = System.nanoTime();
                List<Throwable> failures = joined(new FerroLoader(libraries, name), threads, tls);
                Duration took = Duration.ofNanos(System.nanoTime() - start);
                if (took.compareTo(AT_ONCE) > 0) {
                    late.add(name + " after " + took.toSeconds() + " s: " + failures);
                } else if (!failures.isEmpty() && failures.stream().noneMatch(failure -> isOf(name, failure))) {
                    late.add(name + " is not the cause: " + failures);
                }
            }
            assertTrue(used.size() > 20, "only " + used);
        } finally {
            threads.shutdownNow();
        }

        assertEquals(Set.of(), late, () -> late.size() + " joins");
    }

    /** Returns the classes of ferro that the loops are the first to use. */
    private static Set<String> usedByLoops(ClassLoader libraries, ExecutorService threads, String tls)
            throws Exception {
        FerroLoader complete = new FerroLoader(libraries, "");
        assertEquals(List.of(), joined(complete, threads, tls));
        return Set.copyOf(complete.ofLoops);
    }

    private static boolean isOf(String name, Throwable failure) {
        for (Throwable one = failure; one != null; one = one.getCause()) {
            String text = String.valueOf(one.getMessage());
            // a store that cannot answer can only close
            if (text.contains(name) || text.endsWith("went away (it closed the connection)")) {
                return true;
            }
        }
        return false;
    }

    @SuppressWarnings("unchecked")
    private static List<Throwable> joined(FerroLoader loader, ExecutorService threads, String tls) throws Exception {
        try (loader) {
            var program = (BiFunction<ExecutorService, String, Object>) loader.loadClass(JoinsInALoader.class.getName())
                    .getConstructor()
                    .newInstance();
            return (List<Throwable>) program.apply(threads, tls);
        }
    }

    /** Has a ferro of its own, of which one class is missing, and shares all libraries. */
    private static final class FerroLoader extends URLClassLoader {
        private final Set<String> ofLoops = new ConcurrentSkipListSet<>();
        private final ClassLoader libraries;
        private final String missing;

        FerroLoader(ClassLoader libraries, String missing) throws Exception {
            super(ProviderLoadersTest.classPath(), ClassLoader.getPlatformClassLoader());
            this.libraries = libraries;
            this.missing = missing;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (!name.startsWith("ferro.") || name.startsWith("ferro.shaded.")) {
                return libraries.loadClass(name);
            }
            if (name.equals(missing)) {
                throw new NoClassDefFoundError(name);
            }
            if (Thread.currentThread().getName().endsWith("-net")) {
                ofLoops.add(name);
            }
            return super.findClass(name);
        }

        @Override
        public void close() throws IOException {
            // classes that the loader has not needed yet may be needed while threads end
        }
    }
}
