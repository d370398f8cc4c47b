package ferro.group;

import ferro.Backend;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.NcclBackend;
import ferro.Tensor;
import ferro.Work;
import ferro.collectives.control.Deadlines;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;

/**
 * Two back ends of one group, chosen by where the tensors live: device tensors to one, host tensors, bytes and barriers to the
 * other.
 *
 * <p>Each keeps the order of its own calls, neither waits for the other. Aborting and closing reach both; a failure of one
 * does not fail the other's calls.
 */
final class RoutedBackend implements CollectiveBackend {
    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

    private final CollectiveBackend host;
    private final CollectiveBackend device;
    private final Runnable afterClose;

    RoutedBackend(CollectiveBackend host, CollectiveBackend device) {
        this(host, device, () -> {});
    }

    /** Takes what is left to do when both are closed. */
    RoutedBackend(CollectiveBackend host, CollectiveBackend device, Runnable afterClose) {
        this.host = host;
        this.device = device;
        this.afterClose = afterClose;
    }

    private CollectiveBackend of(Collective call) {
        return call.operand() instanceof DeviceTensor ? device : host;
    }

    private CollectiveBackend of(Tensor tensor) {
        return tensor instanceof DeviceTensor ? device : host;
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
        return device.asNcclBackend();
    }

    @Override
    public Optional<String> unsupportedBecause(Collective call) {
        return of(call).unsupportedBecause(call);
    }

    @Override
    public Work submit(Collective call, Duration timeout) {
        return of(call).submit(call, timeout);
    }

    @Override
    public void run(Collective call, Duration timeout) {
        of(call).run(call, timeout);
    }

    @Override
    public Work send(Tensor tensor, int to, int tag, Duration timeout) {
        return of(tensor).send(tensor, to, tag, timeout);
    }

    @Override
    public Work recv(Tensor tensor, int from, int tag, Duration timeout) {
        return of(tensor).recv(tensor, from, tag, timeout);
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
        host.barrier(timeout);
    }

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        long until = System.nanoTime() + Deadlines.nanos(timeout);
        CollectiveBackend newHost = host.newGroup(ranks, name, timeout);
        try {
            Duration left = Duration.ofNanos(Math.max(1, until - System.nanoTime()));
            return new RoutedBackend(newHost, device.newGroup(ranks, name, left));
        } catch (RuntimeException | Error failure) {
            closeAfter(failure, newHost);
            throw failure;
        }
    }

    @Override
    public void abort(Throwable cause) {
        all(() -> device.abort(cause), () -> host.abort(cause));
    }

    /** Closes the device's first, since it may need the store that the host's serves. */
    @Override
    public void close(Duration timeout) {
        long until = System.nanoTime() + Deadlines.nanos(timeout);
        all(
                () -> device.close(timeout),
                () -> host.close(Duration.ofNanos(Math.max(0, until - System.nanoTime()))),
                afterClose);
    }

    @Override
    public void close() {
        close(CLOSE_BOUND);
    }

    /** Closes what a failure has left over, and keeps the failure. */
    static void closeAfter(Throwable failure, Backend opened) {
        try {
            opened.close();
        } catch (RuntimeException | Error second) {
            failure.addSuppressed(second);
        }
    }

    /** Does each whatever the ones before it do; the first failure is thrown, the others join it. */
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
