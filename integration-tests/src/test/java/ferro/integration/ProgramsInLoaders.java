package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

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

    /** Arguments: {@code OWN} or {@code SHARED}, and the links. */
    public static void main(String[] arguments) throws Exception {
        Links links = Links.valueOf(arguments[1]);
        try (ProgramsInLoaders programs = new ProgramsInLoaders()) {
            if (arguments[0].equals("OWN")) {
                programs.withTheirOwnFerro(links);
            } else {
                programs.withOneFerro(links);
            }
        }
    }

    private void withTheirOwnFerro(Links links) throws Exception {
        List<WeakReference<ClassLoader>> used = new ArrayList<>();
        for (int program = 0; program < PROGRAMS; program++) {
            try (var own = new URLClassLoader(ProviderLoadersTest.classPath(), ClassLoader.getPlatformClassLoader())) {
                job(own, links);
                used.add(new WeakReference<>(own));
            }
        }
        assertCollected(used);
    }

    private void withOneFerro(Links links) throws Exception {
        List<WeakReference<ClassLoader>> used = new ArrayList<>();
        for (int program = 0; program < PROGRAMS; program++) {
            ClassLoader own = new ProgramLoader();
            job(own, links);
            used.add(new WeakReference<>(own));
        }
        assertCollected(used);
    }

    private void job(ClassLoader own, Links links) throws Exception {
        Object ranks = threads.submit(() -> jobOfThisThread(own, links)).get(2 * PATIENCE_NANOS, TimeUnit.NANOSECONDS);
        assertEquals(UsesFerroInALoader.RANKS, ((Set<?>) ranks).size(), "threads that were ranks: " + ranks);
    }

    @SuppressWarnings("unchecked")
    private Object jobOfThisThread(ClassLoader own, Links links) throws ReflectiveOperationException {
        Class<?> program = own.loadClass(UsesFerroInALoader.class.getName());
        assertNotSame(UsesFerroInALoader.class, program);
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(own);
        try {
            var job = (BiFunction<ExecutorService, String, Object>)
                    program.getConstructor().newInstance();
            return job.apply(threads, links.name());
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** At most the last may remain, which a cache of the JDK that has one place may hold. */
    private static void assertCollected(List<WeakReference<ClassLoader>> used) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!remaining(used).isEmpty() && System.nanoTime() - deadline < 0) {
            System.gc();
            TimeUnit.MILLISECONDS.sleep(100);
        }
        assertEquals(List.of(), remaining(used), "programs that remain, of " + PROGRAMS + " in the order of their use");
    }

    /** Returns which programs remain, but for the last. */
    private static List<Integer> remaining(List<WeakReference<ClassLoader>> used) {
        return IntStream.range(0, used.size() - 1)
                .filter(each -> used.get(each).get() != null)
                .boxed()
                .toList();
    }

    /** Has a copy of the program, and ferro of the loader of this test. */
    private static final class ProgramLoader extends ClassLoader {
        ProgramLoader() {
            super(ProgramsInLoaders.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(UsesFerroInALoader.class.getName())) {
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
