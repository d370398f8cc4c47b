package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What this process holds.
 *
 * @param threads     threads of ferro
 * @param descriptors number of open descriptors: sockets, files and epoll instances
 */
record Held(Set<String> threads, long descriptors) {
    /** Returns all threads and descriptors. */
    static Held now() {
        Set<String> threads = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("ferro-"))
                .map(thread -> thread.getName() + " #" + thread.getId())
                .collect(Collectors.toSet());
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return new Held(threads, open.count());
        } catch (IOException gone) {
            throw new UncheckedIOException("cannot list /proc/self/fd", gone);
        }
    }

    /** Returns everything but the timer threads of contexts, which may be open. */
    static Held withoutContexts() {
        Held all = now();
        return new Held(
                all.threads.stream()
                        .filter(name -> !name.startsWith("ferro-background "))
                        .collect(Collectors.toSet()),
                all.descriptors);
    }

    /** Waits, within a bound, until the process holds no more than this. */
    void awaitNoMore(Supplier<Held> state, Duration bound) {
        Held after = state.get();
        for (long start = System.nanoTime();
                !after.fits(this) && System.nanoTime() - start < bound.toNanos();
                after = state.get()) {
            LockSupport.parkNanos(2_000_000);
        }
        assertTrue(after.fits(this), "before: " + this + ", after: " + after);
    }

    private boolean fits(Held before) {
        return before.threads.containsAll(threads) && descriptors <= before.descriptors;
    }
}
