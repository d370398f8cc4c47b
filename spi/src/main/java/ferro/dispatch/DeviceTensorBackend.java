package ferro.dispatch;

import ferro.Allocation;
import ferro.CallCounters;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.GroupEvent;
import ferro.Medium;
import ferro.Message;
import ferro.NcclBackend;
import ferro.Work;
import ferro.spi.Deadlines;
import ferro.spi.ForwardingBackend;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A back end that also accepts device tensors. A call on host tensors is passed unchanged to the wrapped host back end.
 * A call on device tensors takes the route that {@link Dispatcher} chooses.
 *
 * <p>Calls on device tensors and calls on host tensors keep a common order. A call through host memory is passed to the
 * host back end only after its copy to the host. Until the copy to the host has ended, a call on host tensors queues
 * behind the call through host memory, and an operation that cannot be queued waits.
 *
 * <p>A second back end with an NCCL view may accompany the host back end and run the calls on device tensors
 * ({@code cpu:tcp,cuda:nccl}). In a pair of back ends, each back end keeps the order of its own calls, and neither back
 * end waits for the other. A failure of either back end ends the pair, on all ranks. The ranks agree on the cause
 * through the control lane of the host back end ({@link NcclBackend#controlledBy}).
 */
final class DeviceTensorBackend extends ForwardingBackend {
    private final CollectiveBackend host;
    /** The second back end, which takes device tensors; the host back end if no second back end exists. */
    private final CollectiveBackend device;

    private final HostFallbackPath slow;
    private final RankContext context;
    private final Runnable afterClose;

    /** Wraps the back ends. The action {@code afterClose} runs after the back ends are closed. */
    DeviceTensorBackend(CollectiveBackend host, CollectiveBackend device, HostFallbackPath slow, Runnable afterClose) {
        super(Objects.requireNonNull(host, "backend"));
        this.host = host;
        this.device = device;
        this.slow = slow;
        this.context = slow.context();
        this.afterClose = afterClose;
        if (isPair()) {
            asNcclBackend().ifPresent(view -> view.controlledBy(host));
        }
    }

    private boolean isPair() {
        return device != host;
    }

    @Override
    public Optional<NcclBackend> asNcclBackend() {
        return device.asNcclBackend();
    }

    @Override
    public Optional<String> unsupportedBecause(Collective call) {
        return isOnDevice(call)
                ? new Dispatcher(slow, device, null).unsupportedBecause(call)
                : host.unsupportedBecause(call);
    }

    /** Returns the media of both back ends, with the addresses of the host back end. */
    @Override
    public Medium medium() {
        Medium ofHost = host.medium();
        if (!isPair()) {
            return ofHost;
        }
        String before = ofHost.text().isEmpty() ? "" : ofHost.text() + ", ";
        return ofHost.with(before + "device tensors over " + device.medium().text());
    }

    /** Returns false for a pair of back ends, so that a coalesced block refuses device tensors, as NCCL alone does. */
    @Override
    public boolean takesDeviceTensors() {
        return !isPair();
    }

    @Override
    public void run(Collective call, CallOptions options) {
        if (isOnDevice(call)) {
            dispatch(options).open(call).run(call);
        } else if (isBusy()) {
            slow.behind(call, host, options).await();
        } else {
            host.run(call, options);
        }
    }

    @Override
    public Work submit(Collective call, CallOptions options) {
        if (isOnDevice(call)) {
            return dispatch(options).open(call).submit(call);
        }
        return isBusy() ? slow.behind(call, host, options) : host.submit(call, options);
    }

    /**
     * Runs operations and returns when all operations have ended. All ranks make the same calls, but at different
     * speeds. Therefore calls that are still pending must not influence whether the operations are coalesced.
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
        return Objects.requireNonNull(calls, "calls").stream().noneMatch(DeviceTensorBackend::isOnDevice);
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
                ? dispatch(options).transfer(message)
                : host.submit(message, options);
    }

    @Override
    public Work transfer(Message message, CallOptions options) {
        return Objects.requireNonNull(message, "message").tensor() instanceof DeviceTensor
                ? super.transfer(message, options)
                : host.transfer(message, options);
    }

    @Override
    public void barrier(Duration timeout) {
        run(Collective.barrier(), timeout);
    }

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        long until = context.nanoTime() + Deadlines.nanos(timeout);
        CollectiveBackend newHost = host.newGroup(ranks, name, timeout);
        HostFallbackPath own = HostFallbackPath.of(context);
        if (!isPair()) {
            return new DeviceTensorBackend(newHost, newHost, own, () -> {});
        }
        try {
            Duration left = Duration.ofNanos(Math.max(1, until - context.nanoTime()));
            return new DeviceTensorBackend(newHost, device.newGroup(ranks, name, left), own, () -> {});
        } catch (RuntimeException | Error failure) {
            try {
                newHost.close();
            } catch (RuntimeException | Error second) {
                failure.addSuppressed(second);
            }
            throw failure;
        }
    }

    /** Aborts the host back end first, because the host back end notifies the other ranks. */
    @Override
    public void abort(Throwable cause) {
        all(() -> host.abort(cause), ofPair(() -> device.abort(cause)));
    }

    @Override
    public Optional<FerroException> failure() {
        // the ranks agree on the failure of the host back end, which fails a moment after the back end that failed
        // first
        return host.failure().or(device::failure);
    }

    @Override
    public CallCounters counters() {
        return isPair() ? host.counters().plus(device.counters()) : host.counters();
    }

    @Override
    public void joinedBy(Thread thread) {
        host.joinedBy(thread);
        if (isPair()) {
            device.joinedBy(thread);
        }
    }

    /**
     * Adds a listener to both back ends. The listener receives one event at a time. Only the host back end sends the
     * failure to the listener, because the two back ends have the same failure.
     */
    @Override
    public void onEvent(Consumer<GroupEvent> listener) {
        if (!isPair()) {
            host.onEvent(listener);
            return;
        }
        Objects.requireNonNull(listener, "listener");
        Object lock = new Object();
        Consumer<GroupEvent> oneAtATime = event -> {
            synchronized (lock) {
                listener.accept(event);
            }
        };
        host.onEvent(oneAtATime);
        device.onEvent(event -> {
            if (event.kind() != GroupEvent.Kind.FAILED) {
                oneAtATime.accept(event);
            }
        });
    }

    /**
     * Closes both back ends in three steps. First the device back end leaves, so that the host back end can report a
     * failure of the calls that are queued in the device back end. Then the host back end closes. The device back end
     * closes last, because its close waits for the other ranks, which must first receive the goodbye of the host back
     * end.
     */
    @Override
    public void close(Duration timeout) {
        long until = context.nanoTime() + Deadlines.nanos(timeout);
        all(
                ofPair(() -> asNcclBackend().ifPresent(view -> view.leave(timeout))),
                () -> host.close(isPair() ? left(until) : afterDeviceCalls(timeout)),
                ofPair(() -> device.close(left(until))),
                slow::close,
                afterClose);
    }

    private Duration left(long until) {
        return Duration.ofNanos(Math.max(0, until - context.nanoTime()));
    }

    private Runnable ofPair(Runnable step) {
        return isPair() ? step : () -> {};
    }

    /**
     * Runs each step even if earlier steps fail. The first failure is thrown, and has later failures as suppressed
     * exceptions.
     */
    private static void all(Runnable... steps) {
        Throwable failure = null;
        for (Runnable step : steps) {
            try {
                step.run();
            } catch (RuntimeException | Error thrown) {
                if (failure == null) {
                    failure = thrown;
                } else {
                    failure.addSuppressed(thrown);
                }
            }
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure != null) {
            throw (RuntimeException) failure;
        }
    }

    private Dispatcher dispatch(CallOptions options) {
        return new Dispatcher(slow, device, Objects.requireNonNull(options, "options"));
    }

    private boolean isBusy() {
        return slow.isBusy(host, Duration.ZERO);
    }

    /**
     * Waits until all calls through host memory have been passed to the host back end, or until the timeout. Returns
     * the time that is left of the timeout.
     */
    private Duration afterDeviceCalls(Duration timeout) {
        if (!isBusy()) {
            return timeout;
        }
        long until = context.nanoTime() + Deadlines.nanos(timeout);
        slow.isBusy(host, timeout);
        return left(until);
    }

    /**
     * Waits as {@link #afterDeviceCalls} does, before an operation that cannot be queued. If calls through host memory
     * are still left after the timeout, this method aborts the group and throws. Without an exception, the operation
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
        FerroException stop = new FerroException(
                isInterrupted ? Code.INTERRUPTED : Code.TIMED_OUT,
                Where.of("", host.rank()).during(what, -1).after(Duration.ofNanos(waitedNanos), Duration.ZERO),
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
