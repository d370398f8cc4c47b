package ferro.group;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.Message;
import ferro.MessageStatus;
import ferro.TensorMemory;
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

/**
 * The open blocks of {@link ProcessGroup#coalesced}, one per thread. Calls inside a block are kept until the end of the
 * block. Thread-safe.
 */
final class CoalescedBlocks {
    private final Map<Thread, CallBlock> blocks = new ConcurrentHashMap<>();
    /** Number of open blocks; read by every call. */
    private volatile int open;

    /** Returns the block of this thread, or null. While no thread has a block, this method costs only one read. */
    CallBlock mine() {
        return open == 0 ? null : blocks.get(Thread.currentThread());
    }

    /** Rejects a call inside a block if the call cannot wait for the end of the block. */
    void refuse(String what) {
        if (mine() != null) {
            throw new IllegalStateException(
                    what + " inside coalesced: it needs results at once: call it before or after the block");
        }
    }

    /** Keeps the calls of a block until the end of the block, and then runs them. */
    void run(Runnable calls, GroupCore end, Duration timeout) {
        if (mine() != null) {
            calls.run();
            return;
        }
        CallBlock block = kept(calls, end);
        try {
            if (block.messages.isEmpty()) {
                end.way().coalesced(block.handOver(), block.labels, timeout);
                block.end(Work.all(List.of()));
            } else {
                block.start(end.way(), timeout).await();
            }
        } catch (RuntimeException | Error failure) {
            block.end(failure);
            throw failure;
        }
    }

    /** Keeps the calls of a block until the end of the block, and then starts them. */
    Work submit(Runnable calls, GroupCore end, Duration timeout) {
        CallBlock outer = mine();
        if (outer != null) {
            calls.run();
            return outer.later();
        }
        CallBlock block = kept(calls, end);
        try {
            return block.start(end.way(), timeout);
        } catch (RuntimeException | Error failure) {
            block.end(failure);
            throw failure;
        }
    }

    private CallBlock kept(Runnable calls, GroupCore end) {
        CallBlock block = open(end.backend());
        try {
            calls.run();
        } catch (RuntimeException | Error failure) {
            // close before the failure is published, because later calls belong to no block
            close(block);
            block.end(failure);
            throw failure;
        }
        close(block);
        return block;
    }

    private synchronized CallBlock open(CollectiveBackend backend) {
        CallBlock block = new CallBlock(Thread.currentThread(), backend);
        blocks.put(block.owner, block);
        open++;
        return block;
    }

    private synchronized void close(CallBlock block) {
        blocks.remove(block.owner);
        open--;
    }

    /**
     * A message of a block.
     *
     * @param message message to start at the end of the block
     * @param options label and time limit
     * @param begun   handle of the message when the message is started
     */
    private record BlockMessage(Message message, CallOptions options, CompletableFuture<Work> begun) {}

    /** The calls that one thread makes in one block. */
    static final class CallBlock {
        private final Thread owner;
        private final CollectiveBackend backend;
        private final List<Collective> calls = new ArrayList<>();
        /** Labels of the calls, one for each call. */
        private final List<String> labels = new ArrayList<>();
        /** Messages of the block, which start after the calls. */
        private final List<BlockMessage> messages = new ArrayList<>();
        /**
         * Work to wait for after the end of the block. If {@code coalesced} has waited for the calls, the work is done.
         */
        private final CompletableFuture<Work> ended = new CompletableFuture<>();

        private final long begunNanos = System.nanoTime();
        /** Whether the back end may access the tensors of the calls. Once true, this field stays true. */
        private volatile boolean handedOver;

        private CallBlock(Thread owner, CollectiveBackend backend) {
            this.owner = owner;
            this.backend = backend;
        }

        /** Starts the calls and the messages, and returns one handle of all calls and messages. */
        Work start(CollectiveBackend way, Duration timeout) {
            List<Work> all = new ArrayList<>();
            all.add(way.submitCoalesced(handOver(), labels, timeout));
            try {
                for (BlockMessage message : messages) {
                    Work begun = way.submit(message.message, message.options);
                    all.add(begun);
                    message.begun.complete(begun);
                }
            } catch (RuntimeException | Error refused) {
                // the back end may access the tensors of the calls that have begun
                untouched(Work.all(all));
                throw refused;
            }
            Work started = all.size() == 1 ? all.get(0) : Work.all(all);
            end(started);
            return started;
        }

        /** Returns the calls that the back end runs. */
        List<Collective> handOver() {
            handedOver = true;
            return calls;
        }

        /** Keeps a call. An invalid call throws at once, so that the stack trace shows the line that made the call. */
        void keep(Collective call, String label) {
            call.check(backend.rank(), backend.worldSize());
            Optional<String> why = call.operand() instanceof DeviceTensor && !backend.takesDeviceTensors()
                    ? Optional.of(
                            "calls on device tensors cannot be in a block: make the call before or after the block")
                    : backend.unsupportedBecause(call);
            if (why.isPresent()) {
                throw new UnsupportedOperationException(
                        CallOptions.named(call.kind().label(), label) + " inside coalesced, on rank " + backend.rank()
                                + " of world size " + backend.worldSize() + ": " + why.get());
            }
            calls.add(call);
            labels.add(label);
        }

        /**
         * Keeps a message, and returns its handle. Unusable memory throws at once, before any call of the block has
         * begun.
         */
        Work keep(Message message, CallOptions options) {
            if (message.tensor() instanceof DeviceTensor && !backend.takesDeviceTensors()) {
                throw new UnsupportedOperationException("message inside coalesced, on rank " + backend.rank()
                        + " of world size " + backend.worldSize()
                        + ": messages of device tensors cannot be in a block: "
                        + "make the call before or after the block");
            }
            if (message.tensor() instanceof HostTensor host) {
                TensorMemory.checkUsable(
                        host,
                        "message inside coalesced",
                        "tensor",
                        !message.kind().isSend());
            }
            BlockMessage kept = new BlockMessage(message, options, new CompletableFuture<>());
            messages.add(kept);
            return new DeferredWork(this, kept.begun);
        }

        /**
         * Returns the handle of a call. The handle represents all calls of the block, because all calls of a block end
         * together.
         */
        Work later() {
            return new DeferredWork(this, ended);
        }

        /**
         * Aborts the group, as an interrupt of any other call does, because the interrupted call already has a sequence
         * number.
         */
        private FerroException interrupted(InterruptedException why) {
            long waitedNanos = System.nanoTime() - begunNanos;
            Where where = Where.of("", backend.rank())
                    .during("coalesced", -1)
                    .after(Duration.ofNanos(waitedNanos), Duration.ZERO);
            String text = "coalesced on rank " + backend.rank() + " of world size " + backend.worldSize()
                    + ": interrupted after " + waitedNanos / 1_000_000 + " ms of the wait for the calls of the block";
            FerroException stop = new FerroException(Code.INTERRUPTED, where, text, why);
            backend.abort(stop);
            return stop;
        }

        /** Marks the calls of the block as ended, or as in flight until {@code rest} is done. */
        void end(Work rest) {
            ended.complete(rest);
        }

        boolean hasEnded() {
            return ended.isDone();
        }

        void end(Throwable failure) {
            messages.forEach(message -> message.begun.completeExceptionally(failure));
            ended.completeExceptionally(failure);
        }
    }

    /** Waits until no call accesses the tensors of a group that has failed. */
    private static void untouched(Work rest) {
        try {
            rest.await();
        } catch (RuntimeException told) {
            // the caller throws the failure of the group
        }
    }

    /**
     * The handle of a call inside a block.
     *
     * @param block block that contains the call
     * @param begun handle of a message, or of the whole block
     */
    private record DeferredWork(CallBlock block, CompletableFuture<Work> begun) implements Work {
        @Override
        public boolean isDone() {
            return begun.isDone()
                    && (begun.isCompletedExceptionally() || begun.join().isDone());
        }

        @Override
        public Optional<MessageStatus> status() {
            return begun.isDone() && !begun.isCompletedExceptionally()
                    ? begun.join().status()
                    : Optional.empty();
        }

        @Override
        public boolean cancel() {
            return begun.isDone()
                    && !begun.isCompletedExceptionally()
                    && begun.join().cancel();
        }

        @Override
        public void await() {
            refuseInside();
            FerroException stop = null;
            boolean interrupted = false;
            try {
                // calls that the back end has not received are not waited for, because in a failed group these calls
                // access no tensor
                while (stop == null || block.handedOver && !block.hasEnded()) {
                    try {
                        Work rest = begun.get();
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
            begun.join().await();
        }

        @Override
        public boolean await(Duration timeout) {
            Objects.requireNonNull(timeout, "timeout");
            refuseInside();
            long nanos = Deadlines.nanos(timeout);
            long since = System.nanoTime();
            try {
                Work rest = begun.get(nanos, TimeUnit.NANOSECONDS);
                return rest.await(Duration.ofNanos(nanos - (System.nanoTime() - since)));
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
                throw new IllegalStateException("await inside coalesced on thread " + block.owner.getName() + ", after "
                        + block.calls.size() + " calls: they run at the end of the block");
            }
        }

        private static RuntimeException told(Throwable failure) {
            return failure instanceof FerroException ferro
                    ? ferro
                    : new IllegalStateException("the coalesced block failed: " + failure, failure);
        }

        @Override
        public CompletionStage<Void> completion() {
            return begun.thenCompose(Work::completion).minimalCompletionStage();
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
