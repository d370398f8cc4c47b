package ferro.spi;

import ferro.Allocation;
import ferro.CallCounters;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.FerroException;
import ferro.GroupEvent;
import ferro.Medium;
import ferro.Message;
import ferro.NcclBackend;
import ferro.Work;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A back end that forwards every call to another one, including failure and events. This class is the base class of
 * decorators, which override single methods.
 *
 * <p>{@link #newGroup} is also forwarded. A decorator that is also meant for subgroups must wrap the returned group.
 */
public abstract class ForwardingBackend implements CollectiveBackend {
    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

    private final CollectiveBackend inner;

    /**
     * Creates a back end that forwards to another one.
     *
     * @param inner back end that receives the calls
     */
    protected ForwardingBackend(CollectiveBackend inner) {
        this.inner = Objects.requireNonNull(inner, "inner");
    }

    /**
     * Returns the back end that receives the calls.
     *
     * @return wrapped back end
     */
    protected final CollectiveBackend inner() {
        return inner;
    }

    @Override
    public int rank() {
        return inner.rank();
    }

    @Override
    public int worldSize() {
        return inner.worldSize();
    }

    @Override
    public Duration timeout() {
        return inner.timeout();
    }

    @Override
    public Optional<NcclBackend> asNcclBackend() {
        return inner.asNcclBackend();
    }

    @Override
    public Optional<String> unsupportedBecause(Collective call) {
        return inner.unsupportedBecause(call);
    }

    @Override
    public boolean takesDeviceTensors() {
        return inner.takesDeviceTensors();
    }

    @Override
    public Work submit(Collective call, CallOptions options) {
        return inner.submit(call, options);
    }

    @Override
    public void run(Collective call, CallOptions options) {
        inner.run(call, options);
    }

    @Override
    public void coalesced(List<Collective> calls, List<String> labels, Duration timeout) {
        inner.coalesced(calls, labels, timeout);
    }

    @Override
    public Work submitCoalesced(List<Collective> calls, List<String> labels, Duration timeout) {
        return inner.submitCoalesced(calls, labels, timeout);
    }

    @Override
    public Allocation allocate(DataType dataType, long elementCount, Duration timeout) {
        return inner.allocate(dataType, elementCount, timeout);
    }

    @Override
    public Work submit(Message message, CallOptions options) {
        return inner.submit(message, options);
    }

    @Override
    public Optional<String> noExchangeBecause() {
        return inner.noExchangeBecause();
    }

    @Override
    public void send(ByteBuffer message, int to, int tag, Duration timeout) {
        inner.send(message, to, tag, timeout);
    }

    @Override
    public void recv(ByteBuffer message, int from, int tag, Duration timeout) {
        inner.recv(message, from, tag, timeout);
    }

    @Override
    public void barrier(Duration timeout) {
        inner.barrier(timeout);
    }

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        return inner.newGroup(ranks, name, timeout);
    }

    @Override
    public void abort(Throwable cause) {
        inner.abort(cause);
    }

    @Override
    public Optional<FerroException> failure() {
        return inner.failure();
    }

    @Override
    public Set<Integer> lost() {
        return inner.lost();
    }

    @Override
    public CallCounters counters() {
        return inner.counters();
    }

    @Override
    public void joinedBy(Thread thread) {
        inner.joinedBy(thread);
    }

    @Override
    public void onEvent(Consumer<GroupEvent> listener) {
        inner.onEvent(listener);
    }

    @Override
    public Set<Integer> silentRanks(Duration within) {
        return inner.silentRanks(within);
    }

    @Override
    public void close(Duration timeout) {
        inner.close(timeout);
    }

    @Override
    public Path writeFlightRecord(Path folder) throws IOException {
        return inner.writeFlightRecord(folder);
    }

    @Override
    public String linkReport() {
        return inner.linkReport();
    }

    @Override
    public Medium medium() {
        return inner.medium();
    }

    /** Closes the back end with a timeout of 5 s. */
    @Override
    public void close() {
        close(CLOSE_BOUND);
    }
}
