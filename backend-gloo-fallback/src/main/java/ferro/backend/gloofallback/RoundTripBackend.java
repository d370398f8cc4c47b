package ferro.backend.gloofallback;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.NcclBackend;
import ferro.Tensor;
import ferro.Work;
import ferro.dispatch.GpuCollectives;
import ferro.dispatch.HostFallback.Message;
import ferro.spi.Deadlines;
import ferro.spi.ForwardingBackend;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A host back end that takes device tensors too, by {@link GpuCollectives}: its gate, its warning, its order of ways.
 *
 * <p>One order for both: a call on host tensors that comes while calls on device tensors are still to be handed over queues
 * behind them.
 */
final class RoundTripBackend extends ForwardingBackend {
    private final CollectiveBackend host;
    private final RankContext context;
    private final GpuCollectives gpu;
    private final RoundTrips.Use use;
    private final Lane lane;
    private boolean closed;

    RoundTripBackend(CollectiveBackend host, RankContext context) {
        super(host);
        this.host = host;
        this.context = context;
        this.gpu = GpuCollectives.with(context);
        this.use = RoundTrips.Use.of(context);
        this.lane = use.trips().lane(host);
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

    @Override
    public void coalesced(List<Collective> calls, Duration timeout) {
        Objects.requireNonNull(calls, "calls");
        Objects.requireNonNull(timeout, "timeout");
        if (!lane.isBusy() && calls.stream().noneMatch(HostRoundTrip::isOnDevice)) {
            host.coalesced(calls, timeout);
            return;
        }
        List<Work> pending = new ArrayList<>(calls.size());
        for (Collective call : calls) {
            pending.add(submit(call, timeout));
        }
        pending.forEach(Work::await);
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
    public void barrier(Duration timeout) {
        run(new Collective.Barrier(), timeout);
    }

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        return new RoundTripBackend(host.newGroup(ranks, name, timeout), context);
    }

    @Override
    public void close(Duration timeout) {
        long until = System.nanoTime() + Deadlines.nanos(timeout);
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
