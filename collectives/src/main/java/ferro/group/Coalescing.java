package ferro.group;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Work;
import ferro.spi.Deadlines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The blocks of {@link ProcessGroup#coalesced} that are open, one per thread: calls inside are kept for its end. Thread-safe. */
final class Coalescing {
    private final Map<Thread, Block> blocks = new ConcurrentHashMap<>();
    /** Looked at by every call. */
    private volatile int open;

    /** Returns the block of this thread; null, at the cost of one look, while no thread has one. */
    Block mine() {
        return open == 0 ? null : blocks.get(Thread.currentThread());
    }

    /** Refuses what cannot wait for the end of a block. */
    void refuse(String what) {
        if (mine() != null) {
            throw new IllegalStateException(
                    what + " inside coalesced: it needs results at once: call it before or after the block");
        }
    }

    /** Keeps the calls of a block for its end, and runs them then. */
    void run(Runnable calls, GroupEnd end, Duration timeout) {
        if (mine() != null) {
            calls.run();
            return;
        }
        Block block = kept(calls, end);
        try {
            end.way().coalesced(block.handOver(), timeout);
            block.end(Work.all(List.of()));
        } catch (RuntimeException | Error failure) {
            block.end(failure);
            throw failure;
        }
    }

    /** Keeps the calls of a block for its end, and starts them then. */
    Work submit(Runnable calls, GroupEnd end, Duration timeout) {
        Block outer = mine();
        if (outer != null) {
            calls.run();
            return outer.later();
        }
        Block block = kept(calls, end);
        try {
            Work all = end.way().submitCoalesced(block.handOver(), timeout);
            block.end(all);
            return all;
        } catch (RuntimeException | Error failure) {
            block.end(failure);
            throw failure;
        }
    }

    private Block kept(Runnable calls, GroupEnd end) {
        Block block = open(end.backend());
        try {
            calls.run();
        } catch (RuntimeException | Error failure) {
            // before anybody hears of it: what is called then belongs to no block
            close(block);
            block.end(failure);
            throw failure;
        }
        close(block);
        return block;
    }

    private synchronized Block open(CollectiveBackend backend) {
        Block block = new Block(Thread.currentThread(), backend);
        blocks.put(block.owner, block);
        open++;
        return block;
    }

    private synchronized void close(Block block) {
        blocks.remove(block.owner);
        open--;
    }

    /** The calls of one block, by one thread. */
    static final class Block {
        private final Thread owner;
        private final CollectiveBackend backend;
        private final List<Collective> calls = new ArrayList<>();
        /** What there is to wait for once the block has ended: nothing, unless it was only started. */
        private final CompletableFuture<Work> ended = new CompletableFuture<>();

        private final long begunNanos = System.nanoTime();
        /** From now on the back end may touch tensors of the calls. */
        private volatile boolean handedOver;

        private Block(Thread owner, CollectiveBackend backend) {
            this.owner = owner;
            this.backend = backend;
        }

        /** Returns the calls for the back end to run. */
        List<Collective> handOver() {
            handedOver = true;
            return calls;
        }

        /** Keeps a call; whatever is wrong with it is told where it is made. */
        void keep(Collective call) {
            call.check(backend.rank(), backend.worldSize());
            Optional<String> why = call.operand() instanceof DeviceTensor && !backend.takesDeviceTensors()
                    ? Optional.of("tensors on a device run on their own: call it before or after the block")
                    : backend.unsupportedBecause(call);
            if (why.isPresent()) {
                throw new UnsupportedOperationException(call.kind() + " inside coalesced, on rank " + backend.rank()
                        + " of world size " + backend.worldSize() + ": " + why.get());
            }
            calls.add(call);
        }

        /** Returns the handle of a call: of all of them, since all end together. */
        Work later() {
            return new Later(this);
        }

        /** Ends the group, as an interrupt of any other call does: this one has its place in the order. */
        private FerroException interrupted(InterruptedException why) {
            long waitedNanos = System.nanoTime() - begunNanos;
            Where where = new Where("", backend.rank(), "", "coalesced", -1, -1, 0, waitedNanos, 0);
            String text = "coalesced on rank " + backend.rank() + " of world size " + backend.worldSize()
                    + ": interrupted after " + waitedNanos / 1_000_000 + " ms, in the wait for the calls of the block";
            FerroException stop = new FerroException(Code.INTERRUPTED, where, text, why);
            backend.abort(stop);
            return stop;
        }

        /** Its calls have ended, or are under way. */
        void end(Work rest) {
            ended.complete(rest);
        }

        boolean hasEnded() {
            return ended.isDone();
        }

        void end(Throwable failure) {
            ended.completeExceptionally(failure);
        }
    }

    /** The handle of a call inside a block. */
    private record Later(Block block) implements Work {
        @Override
        public boolean isDone() {
            return block.hasEnded()
                    && (block.ended.isCompletedExceptionally()
                            || block.ended.join().isDone());
        }

        @Override
        public void await() {
            refuseInside();
            FerroException stop = null;
            boolean interrupted = false;
            try {
                // what has not been handed over is not waited for: it will touch nothing in a group that has failed
                while (stop == null || block.handedOver && !block.hasEnded()) {
                    try {
                        Work rest = block.ended.get();
                        if (stop != null) {
                            untouched(rest);
                        }
                        break;
                    } catch (InterruptedException why) {
                        interrupted = true;
                        stop = stop == null && !block.hasEnded() ? block.interrupted(why) : stop;
                    }
                }
            } catch (ExecutionException failed) {
                throw stop == null ? told(failed.getCause()) : stop;
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
            if (stop != null) {
                throw stop;
            }
            block.ended.join().await();
        }

        @Override
        public boolean await(Duration timeout) {
            Objects.requireNonNull(timeout, "timeout");
            refuseInside();
            long nanos = Deadlines.nanos(timeout);
            long begun = System.nanoTime();
            try {
                Work rest = block.ended.get(nanos, TimeUnit.NANOSECONDS);
                return rest.await(Duration.ofNanos(nanos - (System.nanoTime() - begun)));
            } catch (TimeoutException notYet) {
                return false;
            } catch (InterruptedException looking) {
                Thread.currentThread().interrupt();
                return false;
            } catch (ExecutionException failed) {
                throw told(failed.getCause());
            }
        }

        private void refuseInside() {
            if (!block.hasEnded() && Thread.currentThread() == block.owner) {
                throw new IllegalStateException("await inside coalesced: its calls run at the end of the block");
            }
        }

        /** Waits until nothing touches the tensors of a group that has failed. */
        private static void untouched(Work rest) {
            try {
                rest.await();
            } catch (RuntimeException told) {
                // the caller says why it has failed
            }
        }

        private static RuntimeException told(Throwable failure) {
            return failure instanceof FerroException ferro
                    ? ferro
                    : new IllegalStateException("the coalesced block failed: " + failure, failure);
        }

        @Override
        public CompletionStage<Void> completion() {
            return block.ended.thenCompose(Work::completion).minimalCompletionStage();
        }

        @Override
        public long sequence() {
            return -1;
        }

        @Override
        public Duration elapsed() {
            return Duration.ofNanos(System.nanoTime() - block.begunNanos);
        }
    }
}
