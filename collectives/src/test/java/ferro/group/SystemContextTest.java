package ferro.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spi.GroupSpec;
import ferro.spi.Settings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SystemContextTest {
    private final AtomicInteger closed = new AtomicInteger();

    /** Something to share. */
    private record Port(AtomicInteger closed) implements AutoCloseable {
        @Override
        public void close() {
            closed.incrementAndGet();
        }
    }

    @Test
    void findCreatesNothingAndCountsAsAUse() {
        try (SystemContext context = SystemContext.of(Map.of())) {
            assertEquals(Optional.empty(), context.find(Port.class));
            Port port = context.shared(Port.class, () -> new Port(closed));

            assertSame(port, context.find(Port.class).orElseThrow());
            context.release(Port.class);
            assertEquals(0, closed.get(), "closed before its last use");
            context.release(Port.class);

            assertEquals(1, closed.get());
            assertEquals(Optional.empty(), context.find(Port.class));
        }
    }

    @Test
    void theExecutorOfAClosedContextRejectsTasks() {
        SystemContext unused = SystemContext.of(Map.of());
        SystemContext used = SystemContext.of(Map.of());
        ScheduledExecutorService before = used.background();
        for (SystemContext context : List.of(unused, used)) {
            context.close();

            assertThrows(
                    RejectedExecutionException.class, () -> context.background().execute(() -> {}));
            assertTrue(context.background().isShutdown());
        }
        assertSame(before, used.background());
    }

    @Test
    void variablesOfAClusterLauncherAnswerForThoseOfFerro() {
        Map<String, String> openMpi = Map.of(
                "OMPI_COMM_WORLD_RANK", "1",
                "OMPI_COMM_WORLD_SIZE", "4",
                "OMPI_COMM_WORLD_LOCAL_RANK", "1",
                "OMPI_COMM_WORLD_LOCAL_SIZE", "2",
                "PMIX_NAMESPACE", "1274281985",
                "LOCAL_RANK", "77");
        try (SystemContext context = SystemContext.of(openMpi)) {
            assertEquals(Optional.of("1"), context.setting("RANK"));
            assertEquals(Optional.of("4"), context.setting("WORLD_SIZE"));
            assertEquals(Optional.of("1"), context.setting("LOCAL_RANK"));
            assertEquals(Optional.of("2"), context.setting("LOCAL_WORLD_SIZE"));
            assertEquals(Optional.empty(), context.setting("MASTER_ADDR"));
            assertEquals("ompi-", context.setting("FERRO_JOB_ID").orElseThrow().substring(0, 5));
            assertEquals(
                    GroupSpec.of("world", 1, 4, Settings.TIMEOUT.of(context)).withJoinTimeout(Duration.ofMinutes(10)),
                    context.spec());
        }
        try (SystemContext context = SystemContext.of(Map.of("RANK", "3", "LOCAL_RANK", "x"))) {
            assertEquals(Optional.of("3"), context.setting("RANK"));
            assertEquals(Optional.of("x"), context.setting("LOCAL_RANK"));
        }
    }

    @Test
    void anEmptyVariableCountsAsNotSet() {
        Map<String, String> empty =
                Map.of("MASTER_ADDR", "", "LOCAL_RANK", " ", "FERRO_TIMEOUT", "", "FERRO_HOST", "a");
        try (SystemContext context = SystemContext.of(empty)) {
            assertEquals(Optional.empty(), Settings.MASTER_ADDR.find(context));
            assertEquals(Optional.empty(), Settings.LOCAL_RANK.find(context));
            assertEquals(Optional.empty(), context.setting("ferro.timeout"));
            assertEquals(Optional.of("a"), context.setting("ferro.host"));
        }
    }

    @Test
    void everyListedPropertyIsReadWhateverItsPrefix() {
        String name = Settings.JNA_LIBRARY_PATH.name();
        String before = System.getProperty(name);
        System.setProperty(name, "/here");
        try (SystemContext context = SystemContext.ofProcess()) {
            assertEquals(Optional.of("/here"), Settings.JNA_LIBRARY_PATH.find(context));
        } finally {
            if (before == null) {
                System.clearProperty(name);
            } else {
                System.setProperty(name, before);
            }
        }
    }

    @Test
    void theBackgroundThreadEndsWhenIdle() throws Exception {
        try (SystemContext context = SystemContext.of(Map.of())) {
            Thread thread = context.background().submit(Thread::currentThread).get(20, TimeUnit.SECONDS);
            thread.join(TimeUnit.SECONDS.toMillis(20));
            assertFalse(thread.isAlive(), thread + " is idle");
            context.background().submit(() -> {}).get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void creatingASharedObjectMayShareOthers() {
        class Inner implements AutoCloseable {
            @Override
            public void close() {
                // nothing is held
            }
        }
        class Outer extends Inner {}
        try (SystemContext context = SystemContext.of(Map.of())) {
            Outer outer = context.shared(Outer.class, () -> {
                context.shared(Inner.class, Inner::new);
                return new Outer();
            });
            assertSame(outer, context.shared(Outer.class, Outer::new));
        }
    }
}
