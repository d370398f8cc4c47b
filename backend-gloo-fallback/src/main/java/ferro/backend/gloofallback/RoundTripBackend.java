package ferro.backend.gloofallback;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.NcclBackend;
import ferro.Tensor;
import ferro.Work;
import ferro.dispatch.GpuCollectives;
import ferro.dispatch.HostFallback.Message;
import ferro.spi.RankContext;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;

/**
 * A host back end that takes device tensors too, by {@link GpuCollectives}: its gate, its warning, its order of ways.
 *
 * <p>One order for both: a call on host tensors that comes while calls on device tensors are still to be handed over queues
 * behind them.
 */
final class RoundTripBackend implements CollectiveBackend {
    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

    private final CollectiveBackend host;
    private final RankContext context;
    private final GpuCollectives gpu;
    private final RoundTrips.Use use;
    private final Lane lane;
    private boolean closed;

    RoundTripBackend(CollectiveBackend host, RankContext context) {
        this.host = host;
        this.context = context;
        this.gpu = GpuCollectives.with(context);
        this.use = RoundTrips.Use.of(context);
        this.lane = use.trips().lane(host);
    }

    @Override
    public int rank() {
        return host.rank();
    }

    @Override
    public int worldSize() {
        return host.worldSize();
    }

    @Override
    public Duration timeout() {
        return host.timeout();
    }

    @Override
    public Optional<NcclBackend> asNcclBackend() {
        return host.asNcclBackend();
    }

    @Override
    public Optional<String> unsupportedBecause(Collective call) {
        if (!HostRoundTrip.isOnDevice(call)) {
            return host.unsupportedBecause(call);
        }
        Optional<NcclBackend> nccl = asNcclBackend();
        return nccl.isPresent() ? nccl.get().unsupportedBecause(call) : Refusals.of(call, host);
    }

    @Override
    public boolean takesDeviceTensors() {
        return true;
    }

    @Override
    public Work submit(Collective call, Duration timeout) {
        if (HostRoundTrip.isOnDevice(call)) {
            return gpu.submit(call, host, timeout);
        }
        return lane.isBusy() ? behind(call, timeout) : host.submit(call, timeout);
    }

    @Override
    public void run(Collective call, Duration timeout) {
        if (HostRoundTrip.isOnDevice(call)) {
            gpu.run(call, host, timeout);
        } else if (lane.isBusy()) {
            behind(call, timeout).await();
        } else {
            host.run(call, timeout);
        }
    }

    private Work behind(Collective call, Duration timeout) {
        return HostCall.behind(call, host, context, timeout);
    }

    @Override
    public Work send(Tensor tensor, int to, int tag, Duration timeout) {
        return tensor instanceof DeviceTensor device
                ? gpu.transfer(new Message(true, device, to, tag), host, timeout)
                : host.send(tensor, to, tag, timeout);
    }

    @Override
    public Work recv(Tensor tensor, int from, int tag, Duration timeout) {
        return tensor instanceof DeviceTensor device
                ? gpu.transfer(new Message(false, device, from, tag), host, timeout)
                : host.recv(tensor, from, tag, timeout);
    }

    @Override
    public void send(ByteBuffer message, int to, int tag, Duration timeout) {
        host.send(message, to, tag, timeout);
    }

    @Override
    public void recv(ByteBuffer message, int from, int tag, Duration timeout) {
        host.recv(message, from, tag, timeout);
    }

    @Override
    public void barrier(Duration timeout) {
        run(new Collective.Barrier(), timeout);
    }

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        return new RoundTripBackend(host.newGroup(ranks, name, timeout), context);
    }

    @Override
    public void abort(Throwable cause) {
        host.abort(cause);
    }

    @Override
    public void close() {
        close(CLOSE_BOUND);
    }

    @Override
    public void close(Duration timeout) {
        long until = System.nanoTime() + RoundTripWork.nanos(timeout);
        lane.drain(until);
        try {
            host.close(Duration.ofNanos(Math.max(0, until - System.nanoTime())));
        } finally {
            release();
        }
    }

    private synchronized void release() {
        if (!closed) {
            closed = true;
            lane.end();
            gpu.close();
            use.close();
        }
    }

    @Override
    public String toString() {
        return RoundTripProvider.NAME + " over " + host;
    }
}
