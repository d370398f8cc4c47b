package ferro.backend.nccl.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.group.SystemContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Runs a test on the stand-in libraries: {@code @ExtendWith(StandIn.class)}. Loads them once for this JVM, resets them
 * before each test, and after it asserts that nothing is left alive, that no closed handle was used, and no memory was
 * freed too early. The hooks are {@link StandInHooks}.
 */
public final class StandIn implements ExecutionCondition, BeforeEachCallback, AfterEachCallback {
    private static final ExtensionContext.Namespace SPACE = ExtensionContext.Namespace.create(StandIn.class);
    private static final String LIVE = "live";
    private static final Path FOLDER =
            Path.of(System.getProperty("standin.folder", "target/native")).toAbsolutePath();

    /** What the hooks arrange is process-wide; a test that fails gives the lock back all the same. */
    private static final ReentrantLock ONE_AT_A_TIME = new ReentrantLock();

    /** Returns settings that name the stand-in libraries, to be extended by a test. */
    public static Map<String, String> settings() {
        return Map.of(
                "ferro.nccl.library",
                nccl().toString(),
                "ferro.cudart.library",
                runtime().toString());
    }

    public static Path folder() {
        return FOLDER;
    }

    public static Path nccl() {
        return FOLDER.resolve("libnccl.so.2");
    }

    public static Path runtime() {
        return FOLDER.resolve("libcudart.so.12");
    }

    /** Loads the libraries, if that has not been done, and binds the hooks. */
    public static LoadedLibraries load() {
        LoadedLibraries libraries = LibraryLoader.load(LibraryLocations.of(SystemContext.of(settings())));
        StandInHooks.bind(libraries.nccl());
        return libraries;
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        Path note = FOLDER.resolve("skipped.txt");
        if (!Files.exists(note)) {
            return ConditionEvaluationResult.enabled("stand-in libraries are in " + FOLDER);
        }
        try {
            return ConditionEvaluationResult.disabled(Files.readString(note).strip());
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** Returns whether the test of this thread is the one that has the libraries for itself. */
    public static boolean isMine() {
        return ONE_AT_A_TIME.isHeldByCurrentThread();
    }

    /** Returns whether a test has the libraries for itself. */
    public static boolean isTaken() {
        return ONE_AT_A_TIME.isLocked();
    }

    /** Returns whether a test on that thread waits for them. */
    public static boolean isAwaitedBy(Thread thread) {
        return ONE_AT_A_TIME.hasQueuedThread(thread);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        ONE_AT_A_TIME.lock();
        load();
        StandInHooks.standInReset();
        context.getStore(SPACE).put(LIVE, live());
    }

    /** Compared with before the test, so that one that leaves something behind does not fail all that follow. */
    @Override
    public void afterEach(ExtensionContext context) {
        try {
            check(context);
        } finally {
            ONE_AT_A_TIME.unlock();
        }
    }

    private static void check(ExtensionContext context) {
        if (context.getExecutionException().isEmpty()) {
            assertEquals(context.getStore(SPACE).get(LIVE), live(), "alive before and after the test");
            assertEquals(0, StandInHooks.standInMisuse(), "uses of dead handles");
            assertEquals(0, StandInHooks.standInFreedInUse(), "memory freed while in use");
        }
    }

    private static Map<String, Integer> live() {
        Map<String, Integer> live = new TreeMap<>();
        for (String kind : List.of("device", "pinned", "stream", "event", "comm")) {
            live.put(kind, StandInHooks.standInLive(kind));
        }
        return live;
    }
}
