package ferro.tck;

import ferro.Backend;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.NcclBackend;
import ferro.Tensor;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;

/** An honest back end that hands everything on; wrong ones change one thing. */
class Decorator implements CollectiveBackend {
    private final CollectiveBackend honest;

    Decorator(CollectiveBackend honest) {
        this.honest = honest;
    }

    /** Makes a group of plain ends with the engine, each decorated. */
    static List<CollectiveBackend> group(int worldSize, UnaryOperator<CollectiveBackend> decorate) {
        return QueueHub.group(worldSize).stream()
                .map(Decorator::whole)
                .map(decorate)
                .toList();
    }

    private static CollectiveBackend whole(Backend plain) {
        return (CollectiveBackend) ProcessGroup.of(plain).backend();
    }

    @Override
    public int rank() {
        return honest.rank();
    }

    @Override
    public int worldSize() {
        return honest.worldSize();
    }

    @Override
    public Duration timeout() {
        return honest.timeout();
    }

    @Override
    public Optional<String> unsupportedBecause(Collective call) {
        return honest.unsupportedBecause(call);
    }

    @Override
    public Work submit(Collective call, Duration timeout) {
        return honest.submit(call, timeout);
    }

    @Override
    public Work send(Tensor tensor, int to, int tag, Duration timeout) {
        return honest.send(tensor, to, tag, timeout);
    }

    @Override
    public Work recv(Tensor tensor, int from, int tag, Duration timeout) {
        return honest.recv(tensor, from, tag, timeout);
    }

    @Override
    public void send(ByteBuffer message, int to, int tag, Duration timeout) {
        honest.send(message, to, tag, timeout);
    }

    @Override
    public void recv(ByteBuffer message, int from, int tag, Duration timeout) {
        honest.recv(message, from, tag, timeout);
    }

    @Override
    public void barrier(Duration timeout) {
        honest.barrier(timeout);
    }

    @Override
    public Optional<NcclBackend> asNcclBackend() {
        return honest.asNcclBackend();
    }

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        return honest.newGroup(ranks, name, timeout);
    }

    @Override
    public void abort(Throwable cause) {
        honest.abort(cause);
    }

    @Override
    public void close(Duration timeout) {
        honest.close(timeout);
    }

    @Override
    public void close() {
        honest.close();
    }

    /** A handle that hands everything on. */
    static class Handle implements Work {
        private final Work work;

        Handle(Work work) {
            this.work = work;
        }

        /** Returns a handle of work that is said to be over. */
        static Work done() {
            CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
            return new Handle(null) {
                @Override
                public boolean isDone() {
                    return true;
                }

                @Override
                public void await() {
                    done.join();
                }

                @Override
                public boolean await(Duration timeout) {
                    return true;
                }

                @Override
                public CompletionStage<Void> completion() {
                    return done;
                }

                @Override
                public long sequence() {
                    return 1;
                }
            };
        }

        @Override
        public boolean isDone() {
            return work.isDone();
        }

        @Override
        public void await() {
            work.await();
        }

        @Override
        public boolean await(Duration timeout) {
            return work.await(timeout);
        }

        @Override
        public CompletionStage<Void> completion() {
            return work.completion();
        }

        @Override
        public long sequence() {
            return work.sequence();
        }

        @Override
        public Duration elapsed() {
            return work == null ? Duration.ZERO : work.elapsed();
        }
    }
}
