package ferro.group;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The context of a group that was joined by options: it ends with the last group, and with a join that fails. */
class OwnedContextTest {
    private static final Optional<String> OPEN = Optional.empty();
    private static final Optional<String> CLOSED = Optional.of("closed");
    private static final JoinOptions OPTIONS = JoinOptions.of(0, 3);

    private final CollectiveBackend world = mock(CollectiveBackend.class);
    private final CollectiveBackend part = mock(CollectiveBackend.class);
    private SystemContext context;

    @BeforeEach
    void describe() {
        for (CollectiveBackend each : new CollectiveBackend[] {world, part}) {
            when(each.worldSize()).thenReturn(3);
            when(each.timeout()).thenReturn(Duration.ofSeconds(10));
        }
        when(world.newGroup(any(), any(), any())).thenReturn(part);
    }

    private ProcessGroup joined() {
        return SystemContext.joined(OPTIONS, made -> {
            context = made;
            return Groups.of(world, made);
        });
    }

    @Test
    void closingTheOnlyGroupEndsTheContextAndItsThread() {
        ProcessGroup group = joined();
        ScheduledExecutorService timers = context.background();
        assertEquals(OPEN, context.ended());
        group.within(Duration.ofSeconds(1)).close();
        assertEquals(OPEN, context.ended(), "a view is no group");

        group.close();

        assertEquals(CLOSED, context.ended());
        assertTrue(timers.isShutdown(), "the thread of timers goes on");
        group.close();
    }

    @Test
    void aFailedCloseOfTheGroupEndsTheContext() {
        ProcessGroup group = joined();
        FerroException mismatch = new FerroException(Code.MISMATCH, Where.of("world", 0), "different calls");
        doThrow(mismatch).when(world).close(any());

        assertSame(mismatch, assertThrows(FerroException.class, group::close));

        assertEquals(CLOSED, context.ended());
    }

    @Test
    void aFailedCloseOfTheContextDoesNotHideThatOfTheGroup() {
        ProcessGroup group = joined();
        FerroException mismatch = new FerroException(Code.MISMATCH, Where.of("world", 0), "different calls");
        doThrow(mismatch).when(world).close(any());
        IllegalStateException ofContext = new IllegalStateException("the store cannot be closed");
        ContextLifecycle.of(context).whenLastCloses(() -> {
            throw ofContext;
        });

        assertSame(mismatch, assertThrows(FerroException.class, group::close));

        assertArrayEquals(new Throwable[] {ofContext}, mismatch.getSuppressed());
    }

    @Test
    void aFailedCloseOfTheContextIsThrown() {
        ProcessGroup group = joined();
        IllegalStateException ofContext = new IllegalStateException("the store cannot be closed");
        ContextLifecycle.of(context).whenLastCloses(() -> {
            throw ofContext;
        });

        assertSame(ofContext, assertThrows(IllegalStateException.class, group::close));
    }

    @Test
    void anOpenSubgroupKeepsTheContextOpen() {
        ProcessGroup group = joined();
        ProcessGroup made = group.newGroup(0, 1, 2);

        group.close();
        assertEquals(OPEN, context.ended());

        made.close();
        assertEquals(CLOSED, context.ended());
    }

    @Test
    void aFailedJoinEndsItsContext() {
        IllegalArgumentException refused = new IllegalArgumentException("no back end");

        IllegalArgumentException thrown = assertThrows(
                IllegalArgumentException.class,
                () -> SystemContext.joined(OPTIONS, made -> {
                    context = made;
                    throw refused;
                }));

        assertSame(refused, thrown);
        assertEquals(CLOSED, context.ended());
    }

    @Test
    void aContextOfALauncherOutlivesItsGroups() {
        try (SystemContext launchers = SystemContext.of(OPTIONS)) {
            Groups.of(world, launchers).close();
            assertEquals(OPEN, launchers.ended());
        }
    }
}
