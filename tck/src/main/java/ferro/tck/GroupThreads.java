package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.locks.LockSupport;

/**
 * The threads that groups have started since this object was created. Threads that are known to belong to other owners
 * are excluded. Instances are thread-safe.
 */
final class GroupThreads {
    /** Time limit for the end of threads after a close. An idle thread may wait for more work before it ends. */
    private static final Duration LIMIT = Duration.ofSeconds(2);

    /**
     * Prefixes of the names of threads that belong to no group. Threads of no group belong to the kit, the test, the
     * store's server (which the test owns), JUnit, and libraries that free memory.
     */
    private static final List<String> OTHERS = List.of(
            "ferro-tck-", "test-", "ferro-store", "junit-", "surefire-", "JNA Cleaner", "CompletableFutureDelay");

    /**
     * Suffix of the name of the thread for delays of {@code CompletableFuture} from JDK 25 on. Earlier JDKs use the
     * name CompletableFutureDelayScheduler.
     */
    private static final String DELAYS_OF_NEWER_JDKS = "-delayScheduler";

    /** Thread groups of the JDK itself. */
    private static final Set<String> GROUPS_OF_THE_JDK = Set.of("system", "InnocuousThreadGroup");

    private final Set<Thread> before = alive();
    private final Set<Thread> ofUserCode = ConcurrentHashMap.newKeySet();
    /** Threads that were alive after the close of a group, each with the description of the group. */
    private final Map<Thread, String> groups = new ConcurrentHashMap<>();

    /** Records the current thread, on which a stage or a listener runs. */
    void note() {
        if (isOfAGroup(Thread.currentThread())) {
            ofUserCode.add(Thread.currentThread());
        }
    }

    /** Records the close of a group, so that a message about a remaining thread can name the group. */
    void closed(String group) {
        left().forEach(thread -> groups.putIfAbsent(thread, group));
    }

    /**
     * Checks that a stage has run on a thread of a group, and that all threads of groups have ended within the time
     * limit.
     */
    void checkAllEnd() {
        assertFalse(ofUserCode.isEmpty(), "no stage has run on a thread of the group");
        long deadline = System.nanoTime() + LIMIT.toNanos();
        Set<Thread> left = left();
        while (!left.isEmpty()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(LIMIT.toMillis() + " ms after the close of all groups, " + left.size()
                        + " of their threads are alive:" + described(left));
            }
            LockSupport.parkNanos(500_000);
            left = left();
        }
    }

    private Set<Thread> left() {
        Set<Thread> left = alive();
        left.removeAll(before);
        ofUserCode.stream().filter(Thread::isAlive).forEach(left::add);
        return left;
    }

    private String described(Set<Thread> threads) {
        StringBuilder text = new StringBuilder();
        for (Thread thread : threads) {
            text.append("\n  ").append(thread.getName()).append(" of group ").append(groups.get(thread));
            Arrays.stream(thread.getStackTrace())
                    .limit(8)
                    .forEach(frame -> text.append("\n    at ").append(frame));
        }
        return text.toString();
    }

    private static Set<Thread> alive() {
        Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
        threads.removeIf(thread -> !isOfAGroup(thread));
        return threads;
    }

    private static boolean isOfAGroup(Thread thread) {
        ThreadGroup group = thread.getThreadGroup();
        return group != null
                && !GROUPS_OF_THE_JDK.contains(group.getName())
                && !(thread instanceof ForkJoinWorkerThread)
                && !thread.getName().endsWith(DELAYS_OF_NEWER_JDKS)
                && OTHERS.stream().noneMatch(thread.getName()::startsWith);
    }
}
