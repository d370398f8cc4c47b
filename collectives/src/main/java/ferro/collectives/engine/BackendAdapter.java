package ferro.collectives.engine;

import ferro.Backend;
import ferro.CallCounters;
import ferro.CallOptions;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.Message;
import ferro.MessageKind;
import ferro.NcclBackend;
import ferro.Tensor;
import ferro.TensorMemory;
import ferro.Work;
import ferro.dispatch.FallbackDecision;
import ferro.recorder.CallCounter;
import ferro.spi.ForwardingBackend;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A back end with every collective over a plain back end, which has five methods. Collectives run on an engine over
 * {@link BackendTransport}. Point-to-point calls go to the plain back end directly, and block.
 */
public final class BackendAdapter extends ForwardingBackend {
    private final Backend plain;
    private final BackendTransport transport;
    private final GroupEngine engine;
    private final RankContext context;
    private final CallCounter messages = new CallCounter();

    private BackendAdapter(Backend plain, BackendTransport transport, GroupEngine engine, RankContext context) {
        super(engine);
        this.plain = plain;
        this.transport = transport;
        this.engine = engine;
        this.context = context;
    }

    /** Returns the engine on a back end of five methods. */
    public static CollectiveBackend over(Backend plain, RankContext context) {
        String name = plain.getClass().getSimpleName();
        GroupSpec group = GroupSpec.of(name, plain.rank(), plain.worldSize(), plain.timeout());
        BackendTransport transport = new BackendTransport(plain);
        GroupEngine engine =
                new GroupEngine(transport, group, context, GroupIdentity.unwatched(group, transport::hasCompared));
        return new BackendAdapter(plain, transport, engine, context);
    }

    /** Runs a send or receive to its end, because a plain back end has no sends or receives in the background. */
    @Override
    public Work submit(Message message, CallOptions options) {
        Objects.requireNonNull(options, "options");
        MessageKind kind = Objects.requireNonNull(message, "message").kind();
        if (kind == MessageKind.RECEIVE_MATCHED) {
            return super.submit(message, options);
        }
        if (kind != MessageKind.SEND && kind != MessageKind.RECEIVE) {
            // Message.requirePlain would name this class in place of the class of the user
            String why = kind.isSend()
                    ? "its sends end without news of their receives; wait for an answer of the receiver"
                    : "its messages do not carry their length; receive exactly as many elements as the peer sends";
            throw new UnsupportedOperationException(options.named(kind.label()) + " on rank " + rank()
                    + " on the plain back end " + plain.getClass().getSimpleName() + ": " + why);
        }
        return new CompletedWork(kind.isSend() ? send(message, options) : recv(message, options));
    }

    private long send(Message message, CallOptions options) {
        InvalidRankException.check("send", "to", message.peer(), worldSize());
        engine.checkUsable(options.named("send"));
        ByteBuffer bytes = transport.bytesOf(host("send", message.tensor()));
        return sent(bytes, message.peer(), message.tag(), options.timeout());
    }

    private long recv(Message message, CallOptions options) {
        if (message.peer() == ANY_SOURCE || message.tag() == ANY_TAG) {
            throw new UnsupportedOperationException(
                    options.named("recv") + " from any rank or with any tag on the plain "
                            + "back end " + plain.getClass().getSimpleName()
                            + ", whose receives wait for one rank and one tag: name both");
        }
        InvalidRankException.check("recv", "from", message.peer(), worldSize());
        engine.checkUsable(options.named("recv"));
        HostTensor into = host("recv", message.tensor());
        if (into.byteCount() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("recv of " + into.byteCount() + " bytes on the plain back end "
                    + plain.getClass().getSimpleName() + ", which takes at most " + Integer.MAX_VALUE
                    + ": receive parts");
        }
        return counted(CallCounter.RECEIVE, into.byteCount(), () -> {
            ByteBuffer bytes = BackendLink.direct(into.byteCount());
            Duration timeout = options.timeout();
            transport.whileNothingIsReceived(timeout, () -> plain.recv(bytes, message.peer(), message.tag(), timeout));
            into.copyFrom(0, HostTensor.of(into.dataType(), bytes.clear()), 0, into.elementCount());
        });
    }

    @Override
    public Optional<String> noExchangeBecause() {
        return Optional.of("a send of the plain back end " + plain.getClass().getSimpleName()
                + " ends before the next message can begin");
    }

    private long sent(ByteBuffer message, int to, int tag, Duration timeout) {
        return counted(
                CallCounter.SEND,
                message.remaining(),
                () -> transport.whileNothingIsSent(timeout, () -> plain.send(message, to, tag, timeout)));
    }

    /**
     * Moves a message and counts it, because the engine counts only collectives. Returns the time of the call in
     * nanoseconds.
     */
    private long counted(int index, long bytes, Runnable call) {
        long begun = System.nanoTime();
        call.run();
        long nanos = System.nanoTime() - begun;
        synchronized (messages) {
            messages.ended(index, 1, bytes, 0, nanos);
        }
        return nanos;
    }

    @Override
    public CallCounters counters() {
        return super.counters().plus(messages.counters());
    }

    @Override
    public void send(ByteBuffer message, int to, int tag, Duration timeout) {
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(timeout, "timeout");
        sent(message, to, tag, timeout);
    }

    @Override
    public void recv(ByteBuffer message, int from, int tag, Duration timeout) {
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(timeout, "timeout");
        counted(
                CallCounter.RECEIVE,
                message.remaining(),
                () -> transport.whileNothingIsReceived(timeout, () -> plain.recv(message, from, tag, timeout)));
    }

    @Override
    public Optional<NcclBackend> asNcclBackend() {
        return plain.asNcclBackend();
    }

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        Objects.requireNonNull(ranks, "ranks");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(timeout, "timeout");
        throw new UnsupportedOperationException("newGroup(" + name + ") on the plain back end "
                + plain.getClass().getSimpleName() + ": it has no control lane over which members could agree");
    }

    private HostTensor host(String kind, Tensor tensor) {
        if (tensor instanceof DeviceTensor) {
            throw new UnsupportedOperationException(
                    FallbackDecision.of(context).refusal(kind, GroupEngine.class.getSimpleName(), rank(), worldSize()));
        }
        HostTensor host = (HostTensor) tensor;
        TensorMemory.checkUsable(host, kind, "tensor", kind.equals("recv"));
        return host;
    }

    private record CompletedWork(long nanos) implements Work {
        @Override
        public boolean isDone() {
            return true;
        }

        @Override
        public void await() {
            // the work has already ended
        }

        @Override
        public boolean await(Duration timeout) {
            Objects.requireNonNull(timeout, "timeout");
            return true;
        }

        @Override
        public CompletionStage<Void> completion() {
            return CompletableFuture.completedStage(null);
        }

        @Override
        public long sequence() {
            return -1;
        }

        @Override
        public Duration elapsed() {
            return Duration.ofNanos(nanos);
        }
    }
}
