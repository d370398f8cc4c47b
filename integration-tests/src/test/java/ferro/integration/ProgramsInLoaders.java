package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Processes;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Runs jobs of several programs, each with a class loader, and checks that the loaders are collected. It is the program of a
 * JVM of its own: when a loader that loaded Netty is collected, Netty unregisters its native methods from the first class of
 * that name, which may be the one that the rest of the JVM uses.
 */
final class ProgramsInLoaders implements AutoCloseable {
    private static final int PROGRAMS = 3;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

    /**
     * One for each rank and one for the program. They live on, as those of a server. None is of a ForkJoinPool, which starts
     * threads that keep the domains of whoever waits.
     */
    private final ExecutorService threads = startedThreads();

    private static ExecutorService startedThreads() {
        ThreadPoolExecutor threads = (ThreadPoolExecutor) Executors.newFixedThreadPool(UsesFerroInALoader.RANKS + 1);
        // with the context loader of this test, not with that of a program
        threads.prestartAllCoreThreads();
        return threads;
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }

    /** What programs bring and what they share. */
    enum Ferro {
        /** Each program brings its own ferro. */
        OWN,
        /** The same, and a program before and after them uses ferro of this JVM. */
        BESIDE,
        /** All use ferro of this JVM. */
        SHARED
    }

    /** Arguments: whose ferro is used, the class of the programs, and their argument. */
    public static void main(String[] arguments) throws Exception {
        Ferro ferro = Ferro.valueOf(arguments[0]);
        try (ProgramsInLoaders programs = new ProgramsInLoaders()) {
            if (ferro == Ferro.BESIDE) {
                programs.job(new ProgramLoader(), arguments[1], arguments[2]);
            }
            programs.assertCollected(ferro == Ferro.SHARED, arguments[1], arguments[2]);
            if (ferro == Ferro.BESIDE) {
                Processes.await(
                        () -> nettysNativeParts() <= 2,
                        Duration.ofNanos(PATIENCE_NANOS),
                        "native parts of Netty stay that belong to programs which are collected");
                programs.job(new ProgramLoader(), arguments[1], arguments[2]);
            }
        }
    }

    /** Returns how many native parts of Netty are in memory: at most that of this JVM and that of the last program remain. */
    private static long nettysNativeParts() {
        System.gc();
        try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
            return mappings.filter(line -> line.contains("netty_transport_native_epoll"))
                    .map(line -> line.substring(line.indexOf('/')))
                    .distinct()
                    .count();
        } catch (IOException noSuchSystem) {
            return 0;
        }
    }

    private void assertCollected(boolean shared, String program, String argument) throws Exception {
        List<WeakReference<ClassLoader>> used = new ArrayList<>();
        for (int number = 0; number < PROGRAMS; number++) {
            ClassLoader own = shared
                    ? new ProgramLoader()
                    : new URLClassLoader(ProviderLoadersTest.classPath(), ClassLoader.getPlatformClassLoader());
            job(own, program, argument);
            if (own instanceof URLClassLoader files) {
                files.close();
            }
            used.add(new WeakReference<>(own));
        }
        assertCollected(used);
    }

    private void job(ClassLoader own, String program, String argument) throws Exception {
        Object ranks = threads.submit(() -> jobOfThisThread(own, program, argument))
                .get(2 * PATIENCE_NANOS, TimeUnit.NANOSECONDS);
        assertEquals(UsesFerroInALoader.RANKS, ((Set<?>) ranks).size(), "threads that were ranks: " + ranks);
    }

    @SuppressWarnings("unchecked")
    private Object jobOfThisThread(ClassLoader own, String name, String argument) throws ReflectiveOperationException {
        Class<?> program = own.loadClass(name);
        assertSame(own, program.getClassLoader());
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(own);
        try {
            var job = (BiFunction<ExecutorService, String, Object>)
                    program.getConstructor().newInstance();
            return job.apply(threads, argument);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /**
     * At most one may remain, which a cache of the JDK that has one place may hold: that of the last record class whose
     * equals was created. This is the last program unless only an earlier one has compared records.
     */
    private static void assertCollected(List<WeakReference<ClassLoader>> used) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (remaining(used).size() > 1 && System.nanoTime() - deadline < 0) {
            System.gc();
            TimeUnit.MILLISECONDS.sleep(100);
        }
        List<Integer> remaining = remaining(used);
        assertTrue(
                remaining.size() <= 1,
                "programs that remain, of " + PROGRAMS + " in the order of their use: " + remaining);
    }

    /** Returns which programs remain. */
    private static List<Integer> remaining(List<WeakReference<ClassLoader>> used) {
        return IntStream.range(0, used.size())
                .filter(each -> used.get(each).get() != null)
                .boxed()
                .toList();
    }

    /** Has a copy of the program, and ferro of the loader of this test. */
    private static final class ProgramLoader extends ClassLoader {
        private static final List<String> PROGRAM_NAMES =
                List.of(UsesFerroInALoader.class.getName(), TrainsInALoader.class.getName());

        ProgramLoader() {
            super(ProgramsInLoaders.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (PROGRAM_NAMES.stream().noneMatch(name::startsWith)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known == null ? defined(name) : known;
            }
        }

        private Class<?> defined(String name) {
            try (InputStream code = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = code.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException broken) {
                throw new UncheckedIOException("cannot read " + name, broken);
            }
        }
    }
}
