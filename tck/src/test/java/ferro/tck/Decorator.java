package ferro.tck;

import ferro.Backend;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.spi.ForwardingBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;

/** An honest back end that hands everything on; wrong ones change one thing. */
class Decorator extends ForwardingBackend {
    Decorator(CollectiveBackend honest) {
        super(honest);
    }

    /** Another submit. */
    interface Submit {
        Work submit(CollectiveBackend honest, Collective call, CallOptions options);
    }

    /** Another run; the last argument runs the call honestly. */
    interface Run {
        void run(CollectiveBackend honest, Collective call, Runnable honestly);
    }

    static UnaryOperator<CollectiveBackend> submitting(Submit other) {
        return honest -> new Decorator(honest) {
            @Override
            public Work submit(Collective call, CallOptions options) {
                return other.submit(honest, call, options);
            }
        };
    }

    static UnaryOperator<CollectiveBackend> running(Run other) {
        return honest -> new Decorator(honest) {
            @Override
            public void run(Collective call, CallOptions options) {
                other.run(honest, call, () -> super.run(call, options));
            }
        };
    }

    /** Makes a group of plain ends with the engine, each decorated. */
    static List<CollectiveBackend> group(int worldSize, UnaryOperator<CollectiveBackend> decorate) {
        return QueueHub.group(worldSize).stream()
                .map(Decorator::engine)
                .map(decorate)
                .toList();
    }

    private static CollectiveBackend engine(Backend plain) {
        return (CollectiveBackend) ProcessGroup.of(plain).backend();
    }

    /** By way of {@link #submit}, so that what changes the one changes the other. */
    @Override
    public void run(Collective call, CallOptions options) {
        submit(call, options).await();
    }

    /** A handle that hands everything on. */
    static class Handle implements Work {
        private final Work work;

        Handle(Work work) {
            this.work = work;
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
            return work.elapsed();
        }
    }
}
