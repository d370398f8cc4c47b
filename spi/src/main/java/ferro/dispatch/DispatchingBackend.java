package ferro.dispatch;

import ferro.Allocation;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Message;
import ferro.Work;
import ferro.spi.Deadlines;
import ferro.spi.ForwardingBackend;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A decorator of a back end that also accepts device tensors. A call on device tensors takes the route that {@link
 * Dispatch} chooses. A call on host tensors is passed unchanged to the wrapped back end.
 *
 * <p>Calls on device tensors and calls on host tensors keep a common order. A call through host memory is passed to the
 * wrapped back end only after its copy to the host. Until the copy to the host has ended, a call on host tensors queues
 * behind the call through host memory, and an operation that cannot be queued waits.
 */
final class DispatchingBackend extends ForwardingBackend {
    private final CollectiveBackend host;
    private final GpuCollectives gpu;
    private final RankContext context;

    DispatchingBackend(CollectiveBackend host, GpuCollectives gpu, RankContext context) {
        super(Objects.requireNonNull(host, "backend"));
        this.host = host;
        this.gpu = gpu;
        this.context = context;
    }

    @Override
    public Optional<String> unsupportedBecause(Collective call) {
        return isOnDevice(call) ? gpu.dispatch(host).unsupportedBecause(call) : host.unsupportedBecause(call);
    }

    @Override
    public boolean takesDeviceTensors() {
        return true;
    }

    @Override
    public void run(Collective call, CallOptions options) {
        if (isOnDevice(call)) {
            gpu.dispatch(host, options).open(call).run(call);
        } else if (isBusy()) {
            gpu.behind(call, host, options).await();
        } else {
            host.run(call, options);
        }
    }

    @Override
    public Work submit(Collective call, CallOptions options) {
        if (isOnDevice(call)) {
            return gpu.dispatch(host, options).open(call).submit(call);
        }
        return isBusy() ? gpu.behind(call, host, options) : host.submit(call, options);
    }

    /**
     * Runs operations and returns when all have ended. All ranks make the same calls, but at different speeds.
     * Therefore calls that are still pending must not influence whether the operations are coalesced.
     */
    @Override
    public void coalesced(List<Collective> calls, List<String> labels, Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (areOnHost(calls)) {
            host.coalesced(calls, labels, behindDeviceCalls("coalesced", timeout));
        } else {
            submitEach(calls, labels, timeout).await();
        }
    }

    /** Starts operations. Waits only for earlier calls that go through host memory. */
    @Override
    public Work submitCoalesced(List<Collective> calls, List<String> labels, Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        return areOnHost(calls)
                ? host.submitCoalesced(calls, labels, behindDeviceCalls("coalesced", timeout))
                : submitEach(calls, labels, timeout);
    }

    private static boolean areOnHost(List<Collective> calls) {
        return Objects.requireNonNull(calls, "calls").stream().noneMatch(DispatchingBackend::isOnDevice);
    }

    private Work submitEach(List<Collective> calls, List<String> labels, Duration timeout) {
        List<Work> pending = new ArrayList<>(calls.size());
        for (int i = 0; i < calls.size(); i++) {
            pending.add(submit(calls.get(i), CallOptions.of(timeout, labels.get(i))));
        }
        return Work.all(pending);
    }

    @Override
    public Allocation allocate(DataType dataType, long elementCount, Duration timeout) {
        return host.allocate(dataType, elementCount, behindDeviceCalls("allocate", timeout));
    }

    @Override
    public Work submit(Message message, CallOptions options) {
        Objects.requireNonNull(options, "options");
        return Objects.requireNonNull(message, "message").tensor() instanceof DeviceTensor
                ? gpu.dispatch(host, options).transfer(message)
                : host.submit(message, options);
    }

    @Override
    public void barrier(Duration timeout) {
        run(Collective.barrier(), timeout);
    }

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        return GpuCollectives.with(context).over(host.newGroup(ranks, name, timeout));
    }

    @Override
    public void close(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        try {
            host.close(afterDeviceCalls(timeout));
        } finally {
            gpu.close();
        }
    }

    private boolean isBusy() {
        return gpu.isBusy(host, Duration.ZERO);
    }

    /**
     * Waits until all calls through host memory have been passed to the wrapped back end, or until the timeout. Returns
     * the time that is left.
     */
    private Duration afterDeviceCalls(Duration timeout) {
        if (!isBusy()) {
            return timeout;
        }
        long until = context.nanoTime() + Deadlines.nanos(timeout);
        gpu.isBusy(host, timeout);
        return Duration.ofNanos(Math.max(0, until - context.nanoTime()));
    }

    /**
     * Waits as {@link #afterDeviceCalls} does, before an operation that cannot be queued. If calls through host memory
     * are still left after the timeout, this method aborts the group and throws. Without this exception, the operation
     * would overtake the remaining calls.
     */
    private Duration behindDeviceCalls(String what, Duration timeout) {
        long begun = context.nanoTime();
        Duration left = afterDeviceCalls(timeout);
        if (!isBusy()) {
            return left;
        }
        boolean isInterrupted = Thread.currentThread().isInterrupted();
        long waitedNanos = context.nanoTime() - begun;
        Code code = isInterrupted ? Code.INTERRUPTED : Code.TIMED_OUT;
        Where where = Where.of("", host.rank()).during(what, -1).after(Duration.ofNanos(waitedNanos), Duration.ZERO);
        FerroException stop = new FerroException(
                code,
                where,
                what + " on rank " + host.rank() + " of world size " + host.worldSize() + ": "
                        + (isInterrupted ? "interrupted" : "gave up") + " after " + waitedNanos / 1_000_000
                        + " ms while waiting for earlier calls on device tensors that go through host memory");
        host.abort(stop);
        throw stop;
    }

    private static boolean isOnDevice(Collective call) {
        return Objects.requireNonNull(call, "call").operand() instanceof DeviceTensor;
    }

    @Override
    public String toString() {
        return host + " and device tensors";
    }
}
