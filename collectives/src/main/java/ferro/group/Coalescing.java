package ferro.group;

import ferro.Collective;
import ferro.FerroException;
import ferro.Work;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
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

    synchronized Block open() {
        Block block = new Block(Thread.currentThread());
        blocks.put(block.owner, block);
        open++;
        return block;
    }

    synchronized void close(Block block) {
        blocks.remove(block.owner);
        open--;
    }

    /** The calls of one block, by one thread. */
    static final class Block {
        private final Thread owner;
        private final List<Collective> calls = new ArrayList<>();
        private final CompletableFuture<Void> ended = new CompletableFuture<>();
        private final long begunNanos = System.nanoTime();

        private Block(Thread owner) {
            this.owner = owner;
        }

        List<Collective> calls() {
            return calls;
        }

        void add(Collective call) {
            calls.add(call);
        }

        /** Returns the handle of a call: of all of them, since all end together. */
        Work later() {
            return new Later(this);
        }

        void end() {
            ended.complete(null);
        }

        void end(Throwable failure) {
            ended.completeExceptionally(failure);
        }
    }

    /** The handle of a call inside a block. */
    private record Later(Block block) implements Work {
        @Override
        public boolean isDone() {
            return block.ended.isDone();
        }

        @Override
        public void await() {
            refuseInside();
            try {
                block.ended.join();
            } catch (CompletionException failed) {
                throw told(failed.getCause());
            }
        }

        @Override
        public boolean await(Duration timeout) {
            Objects.requireNonNull(timeout, "timeout");
            refuseInside();
            try {
                block.ended.get(Math.min(timeout.toMillis(), Integer.MAX_VALUE), TimeUnit.MILLISECONDS);
                return true;
            } catch (TimeoutException notYet) {
                return false;
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                return isDone();
            } catch (java.util.concurrent.ExecutionException failed) {
                throw told(failed.getCause());
            }
        }

        private void refuseInside() {
            if (!isDone() && Thread.currentThread() == block.owner) {
                throw new IllegalStateException("await inside coalesced: its calls run at the end of the block");
            }
        }

        private static RuntimeException told(Throwable failure) {
            return failure instanceof FerroException ferro
                    ? ferro
                    : new IllegalStateException("the coalesced block failed: " + failure, failure);
        }

        @Override
        public CompletionStage<Void> completion() {
            return block.ended.minimalCompletionStage();
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
