package ferro.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.mockito.InOrder;

/** What becomes of the groups of a thread that an exception ends. */
@Timeout(20)
class JoinedThreadExceptionHandlerTest {
    private final CollectiveBackend world = mock(CollectiveBackend.class);
    private final CollectiveBackend part = mock(CollectiveBackend.class);
    private final RuntimeException thrown = new IllegalStateException("batch 17 has no labels");
    private final Thread.UncaughtExceptionHandler before = mock(Thread.UncaughtExceptionHandler.class);

    @Test
    void anUncaughtExceptionAbortsTheThreadsGroupsBeforeItIsPrinted() throws InterruptedException {
        Thread ended = endedBy(() -> {
            JoinedThreadExceptionHandler.joined(world).opened(part);
            throw thrown;
        });

        InOrder order = inOrder(world, part, before);
        order.verify(world).abort(thrown);
        order.verify(part).abort(thrown);
        order.verify(before).uncaughtException(ended, thrown);
    }

    @Test
    void aClosedGroupIsNotAborted() throws InterruptedException {
        Thread ended = endedBy(() -> {
            JoinedThreadExceptionHandler joined = JoinedThreadExceptionHandler.joined(world);
            joined.opened(part);
            joined.closed(part);
            throw thrown;
        });

        verify(world).abort(thrown);
        verify(part, never()).abort(any());
        verify(before).uncaughtException(ended, thrown);
    }

    @Test
    void aFailedGroupKeepsItsCause() throws InterruptedException {
        FerroException failure = new FerroException(Code.PEER_LOST, Where.of("world", 0), "rank 1 is gone");
        when(world.failure()).thenReturn(Optional.of(failure));

        endedBy(() -> {
            JoinedThreadExceptionHandler.joined(world);
            throw failure;
        });

        verify(world, never()).abort(any());
    }

    @Test
    void aFailedAbortStillAbortsTheOtherGroups() throws InterruptedException {
        doThrow(new IllegalStateException("no way out")).when(world).abort(any());

        Thread ended = endedBy(() -> {
            JoinedThreadExceptionHandler.joined(world).opened(part);
            throw thrown;
        });

        verify(part).abort(thrown);
        verify(before).uncaughtException(ended, thrown);
    }

    @Test
    void theThreadGetsItsHandlerBackWhenItsLastGroupCloses() throws InterruptedException {
        AtomicReference<Thread.UncaughtExceptionHandler> between = new AtomicReference<>();
        AtomicReference<Thread.UncaughtExceptionHandler> afterwards = new AtomicReference<>();

        endedBy(() -> {
            JoinedThreadExceptionHandler first = JoinedThreadExceptionHandler.joined(world);
            JoinedThreadExceptionHandler second = JoinedThreadExceptionHandler.joined(part);
            assertSame(first, second);
            first.closed(world);
            between.set(Thread.currentThread().getUncaughtExceptionHandler());
            second.closed(part);
            afterwards.set(Thread.currentThread().getUncaughtExceptionHandler());
        });

        assertEquals(JoinedThreadExceptionHandler.class, between.get().getClass());
        assertSame(before, afterwards.get());
        verify(before, never()).uncaughtException(any(), any());
    }

    @Test
    void aThreadWithoutAHandlerHasNoneAfterwards() throws InterruptedException {
        AtomicReference<Thread.UncaughtExceptionHandler> afterwards = new AtomicReference<>();

        Thread plain = new Thread(() -> {
            JoinedThreadExceptionHandler.joined(world).closed(world);
            afterwards.set(Thread.currentThread().getUncaughtExceptionHandler());
        });
        plain.start();
        plain.join();

        assertSame(Thread.currentThread().getThreadGroup(), afterwards.get());
    }

    @Test
    void aHandlerThatTheProgramSetsLaterIsKept() throws InterruptedException {
        Thread.UncaughtExceptionHandler later = mock(Thread.UncaughtExceptionHandler.class);

        Thread ended = endedBy(() -> {
            JoinedThreadExceptionHandler joined = JoinedThreadExceptionHandler.joined(world);
            Thread.currentThread().setUncaughtExceptionHandler(later);
            joined.closed(world);
            throw thrown;
        });

        verify(later).uncaughtException(ended, thrown);
        verify(world, never()).abort(any());
    }

    private Thread endedBy(Runnable task) throws InterruptedException {
        when(world.rank()).thenReturn(2);
        Thread thread = new Thread(task, "joins");
        thread.setUncaughtExceptionHandler(before);
        thread.start();
        thread.join();
        assertFalse(thread.isAlive());
        return thread;
    }
}
