package ferro.group;

import ferro.CallCounters;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.GroupEvent;
import ferro.Medium;
import ferro.Message;
import ferro.NcclBackend;
import ferro.Work;
import ferro.spi.Deadlines;
import ferro.spi.ForwardingBackend;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Two back ends of one group: the device back end gets device tensors, the host back end gets host tensors, bytes and
 * barriers.
 *
 * <p>Each back end keeps the order of its own calls, and neither waits for the other. A failure of either back end ends
 * both, on all ranks. The ranks agree on the cause through the control lane of the host back end
 * ({@link NcclBackend#controlledBy}).
 */
final class RoutedBackend extends ForwardingBackend {
    private final CollectiveBackend host;
    private final CollectiveBackend device;
    private final RankContext context;
    private final Runnable afterClose;

    RoutedBackend(CollectiveBackend host, CollectiveBackend device, RankContext context) {
        this(host, device, context, () -> {});
    }

    /** Makes a routed back end with an action to run after both are closed. */
    RoutedBackend(CollectiveBackend host, CollectiveBackend device, RankContext context, Runnable afterClose) {
        super(host);
        this.host = host;
        this.device = device;
        this.context = context;
        this.afterClose = afterClose;
        device.asNcclBackend().ifPresent(view -> view.controlledBy(host));
    }

    private CollectiveBackend of(Collective call) {
        return Objects.requireNonNull(call, "call").operand() instanceof DeviceTensor ? device : host;
    }

    @Override
    public Optional<NcclBackend> asNcclBackend() {
        return device.asNcclBackend();
    }

    @Override
    public Optional<String> unsupportedBecause(Collective call) {
        return of(call).unsupportedBecause(call);
    }

    /** Returns the media of both back ends, with the addresses of the host back end. */
    @Override
    public Medium medium() {
        Medium ofHost = host.medium();
        String before = ofHost.text().isEmpty() ? "" : ofHost.text() + ", ";
        return ofHost.with(before + "device tensors over " + device.medium().text());
    }

    /**
     * Returns false, because {@link ProcessGroup} chooses the path of device tensors, even if the host back end could
     * take them.
     */
    @Override
    public boolean takesDeviceTensors() {
        return false;
    }

    @Override
    public Work submit(Collective call, CallOptions options) {
        return of(call).submit(call, options);
    }

    @Override
    public void run(Collective call, CallOptions options) {
        of(call).run(call, options);
    }

    /** Submits a message to the back end of its tensor. The host back end receives each message that it has matched. */
    @Override
    public Work submit(Message message, CallOptions options) {
        Objects.requireNonNull(message, "message");
        boolean isOnDevice = message.tensor() instanceof DeviceTensor && message.matched() == null;
        return (isOnDevice ? device : host).submit(message, options);
    }

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        long until = context.nanoTime() + Deadlines.nanos(timeout);
        CollectiveBackend newHost = host.newGroup(ranks, name, timeout);
        try {
            Duration left = Duration.ofNanos(Math.max(1, until - context.nanoTime()));
            return new RoutedBackend(newHost, device.newGroup(ranks, name, left), context);
        } catch (RuntimeException | Error failure) {
            closeAfter(failure, newHost);
            throw failure;
        }
    }

    /** Aborts the host back end first, because it informs the other ranks. */
    @Override
    public void abort(Throwable cause) {
        all(() -> host.abort(cause), () -> device.abort(cause));
    }

    @Override
    public Optional<FerroException> failure() {
        // the ranks agree on the failure of the host back end, which fails a moment after the back end that failed
        // first
        return host.failure().or(device::failure);
    }

    @Override
    public CallCounters counters() {
        return host.counters().plus(device.counters());
    }

    @Override
    public void joinedBy(Thread thread) {
        host.joinedBy(thread);
        device.joinedBy(thread);
    }

    /**
     * Adds a listener to both back ends; the listener receives one event at a time. Only the host back end sends the
     * failure to the listener, because both have the same failure.
     */
    @Override
    public void onEvent(Consumer<GroupEvent> listener) {
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
     * Closes both back ends in three steps. The device back end leaves first, because the host back end reports a
     * failure of its queued calls. Then the host back end closes. The device back end closes last: it waits for the
     * other ranks, which must receive the goodbye of the host back end before.
     */
    @Override
    public void close(Duration timeout) {
        long until = context.nanoTime() + Deadlines.nanos(timeout);
        all(
                () -> device.asNcclBackend().ifPresent(view -> view.leave(timeout)),
                () -> host.close(left(until)),
                () -> device.close(left(until)),
                afterClose);
    }

    private Duration left(long until) {
        return Duration.ofNanos(Math.max(0, until - context.nanoTime()));
    }

    /** Closes what a failure has left open, and keeps the failure. */
    static void closeAfter(Throwable failure, AutoCloseable opened) {
        try {
            opened.close();
        } catch (Exception | Error second) {
            failure.addSuppressed(second);
        }
    }

    /**
     * Runs each step even if earlier ones fail. The first failure is thrown, with the others as suppressed exceptions.
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
}
