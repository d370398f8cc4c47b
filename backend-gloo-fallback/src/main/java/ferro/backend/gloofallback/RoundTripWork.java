package ferro.backend.gloofallback;

import ferro.CallOptions;
import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Work;
import ferro.dispatch.DeviceMemory.Copy;
import ferro.spi.Deadlines;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The handle of a call that goes through host memory. Thread-safe. */
final class RoundTripWork implements Work {
    /** The interval at which a wait for a copy checks the deadline and interrupts. */
    private static final Duration LOOK = Duration.ofMillis(20);

    private final String operation;
    private final CallOptions options;
    private final CollectiveBackend host;
    private final RankContext context;
    private final Executor dependants;
    private final long begunNanos;
    private final long deadlineNanos;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile FerroException stopped;
    private volatile boolean stopping;
    private boolean finished;
    /** The work of the host back end for a message, which ends before this work; null for a collective. */
    private Work network;

    private volatile long sequence;
    private volatile long endedNanos;

    RoundTripWork(String operation, CollectiveBackend host, RoundTripState.RoundTripLease lease, CallOptions options) {
        this.operation = options.named(operation);
        this.options = options;
        this.host = host;
        this.context = lease.context();
        this.dependants = lease.trips().dependants();
        this.begunNanos = context.nanoTime();
        this.deadlineNanos = begunNanos + Deadlines.nanos(options.timeout());
    }

    /** Queues the task of this call. If no thread is available, the group fails, because other ranks would wait. */
    void queue(Runnable task, RoundTripState.RoundTripLease lease) {
        try {
            lease.trips().lane(host).add(task, lease, "ferro-roundtrip-" + host.rank());
        } catch (OutOfMemoryError noThread) {
            FerroException failure =
                    failure(Code.RESOURCE, "cannot start a thread: " + noThread.getMessage(), noThread);
            host.abort(failure);
            end(failure);
        }
    }

    /** Returns the time until the deadline of the call; zero or negative after the deadline. */
    Duration left() {
        return Duration.ofNanos(deadlineNanos - context.nanoTime());
    }

    /** Returns the options for the rest of the call: the label, and the time until the deadline, at least zero. */
    CallOptions rest() {
        Duration left = left();
        return options.within(left.isNegative() ? Duration.ZERO : left);
    }

    /**
     * Returns whether {@link #await(Copy, String)} stopped waiting at the deadline or an interrupt. The failure then does
     * not come from the copy.
     */
    boolean isStopping() {
        return stopping;
    }

    /** Waits for a copy, until the deadline or an interrupt of the caller. */
    void await(Copy copy, String what) {
        while (!copy.await(LOOK)) {
            stopIfLate(what);
        }
    }

    /** Stops waiting if the deadline has passed or the caller was interrupted. */
    void stopIfLate(String waitedFor) {
        stopping = stopped != null || left().isNegative();
        if (stopped != null) {
            throw stopped;
        }
        if (stopping) {
            throw failure(
                    Code.TIMED_OUT,
                    waitedFor + " has not ended after " + elapsed().toMillis()
                            + " ms: do not use its tensors before the device has finished",
                    null);
        }
    }

    /**
     * Sets the host work of a message, for which {@link #await()} waits. Called before the caller receives this handle.
     */
    void waitsFor(Work hostPart) {
        network = hostPart;
        sequence = hostPart.sequence();
    }

    void numbered(long hostSequence) {
        if (sequence == 0) {
            sequence = hostSequence;
        }
    }

    /** Ends the call. If an interrupt has already ended the group, the caller gets the failure of the interrupt. */
    void end(Throwable failure) {
        Throwable outcome;
        synchronized (this) {
            outcome = stopped == null ? failure : stopped;
            finished = true;
        }
        endedNanos = context.nanoTime();
        if (outcome == null) {
            ended.complete(null);
        } else {
            ended.completeExceptionally(outcome);
        }
    }

    /**
     * Returns the cause of a CompletionException, in which dependent stages wrap failures, or any other failure itself.
     */
    static Throwable plain(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /** Creates a failure of this call. */
    FerroException failure(Code code, String why, Throwable cause) {
        int[] blamed = code == Code.INTERRUPTED ? new int[0] : new int[] {host.rank()};
        Where where = Where.of("", host.rank())
                .blaming(blamed)
                .during(operation, sequence())
                .after(elapsed(), Duration.ZERO);
        return new FerroException(code, where, text(why), cause);
    }

    String text(String why) {
        return operation + " through host memory, rank " + host.rank() + " of " + host.worldSize() + ": " + why;
    }

    @Override
    public boolean isDone() {
        return ended.isDone();
    }

    /**
     * Waits for the end of the call. For a message, an interrupt ends the work of the host back end as that back end
     * specifies. The rest of the call is short.
     */
    @Override
    public void await() {
        if (network != null) {
            network.await();
        }
        boolean interrupted = false;
        while (true) {
            try {
                ended.get();
                break;
            } catch (InterruptedException first) {
                interrupted = true;
                if (network == null) {
                    stop(first);
                }
            } catch (ExecutionException failed) {
                restore(interrupted);
                throw unwrapped(failed.getCause());
            }
        }
        restore(interrupted);
    }

    /** Aborts the group, because this call has lost its position in the order. */
    private void stop(InterruptedException why) {
        FerroException stop =
                failure(Code.INTERRUPTED, "interrupted after " + elapsed().toMillis() + " ms", why);
        synchronized (this) {
            if (stopped != null || finished) {
                return;
            }
            stopped = stop;
        }
        host.abort(stop);
    }

    private static void restore(boolean interrupted) {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public boolean await(Duration timeout) {
        long until = System.nanoTime() + Deadlines.nanos(timeout);
        try {
            if (network != null && !network.await(timeout)) {
                return false;
            }
            ended.get(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException late) {
            return false;
        } catch (InterruptedException looking) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException failed) {
            throw unwrapped(failed.getCause());
        }
    }

    private static RuntimeException unwrapped(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return (RuntimeException) failure;
    }

    @Override
    public CompletionStage<Void> completion() {
        // dependent stages may block
        return ended.whenCompleteAsync((nothing, failure) -> {}, dependants).minimalCompletionStage();
    }

    /**
     * Returns the sequence number of the first piece on the host back end; 0 until the first piece is submitted. A
     * message always has the number -1, like its work on the host back end.
     */
    @Override
    public long sequence() {
        return sequence;
    }

    @Override
    public Duration elapsed() {
        return Duration.ofNanos((ended.isDone() ? endedNanos : context.nanoTime()) - begunNanos);
    }
}
