package ferro.backend.gloofallback;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.Message;
import ferro.Work;
import ferro.dispatch.DeviceMemories;
import ferro.dispatch.HostFallback;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Runs collectives on device tensors: copies to the host, runs the collective on a host back end, and copies back.
 *
 * <p>Calls are cut into pieces of {@code ferro.fallback.chunk}. Therefore a call uses at most 32 MiB of staging memory,
 * which is kept for the next call. Only needed data is copied. For example, in a broadcast only the root copies to the
 * host, and the root copies nothing back. The calls of one host group keep their order. The calls of several groups do
 * not wait for each other.
 *
 * <p>In a call with several pieces, every rank must use this class, with device tensors. A point-to-point message is
 * not cut, so the peer may send or receive the message from host memory.
 *
 * <p>Thread-safe. An object of this class has no state.
 */
public final class HostRoundTrip implements HostFallback {
    /** Creates an object for the service loader. */
    public HostRoundTrip() {}

    @Override
    public Optional<String> unavailableBecause(RankContext context) {
        return DeviceMemories.unavailableBecause(context);
    }

    @Override
    public Optional<String> unsupportedBecause(Collective call, RankContext context) {
        // an invalid chunk size is misuse, too, and is reported before the warning that this is slow
        Settings.FALLBACK_CHUNK.of(context);
        if (call.op() != null && call.op().combiner() != null) {
            return Optional.of("a user-defined reduction (" + call.op().name()
                    + ") does not run on device tensors: copy the tensors to the host");
        }
        if (call.hasCounts()) {
            return Optional.of(call.kind() + " with counts does not go through host memory: leave out the counts if"
                    + " all parts are equal, else use host tensors");
        }
        return Optional.empty();
    }

    @Override
    public Optional<String> unsupportedBecause(Message message) {
        DeviceTensor tensor = (DeviceTensor) message.tensor();
        return tensor.byteCount() <= MessageTransfer.BYTES_MOST
                ? Optional.empty()
                : Optional.of(tensor + " has " + tensor.byteCount() + " bytes, host memory takes at most "
                        + MessageTransfer.BYTES_MOST + " in one message: send and receive slices of the tensor");
    }

    /**
     * Starts a collective on device tensors.
     *
     * @throws UnsupportedOperationException if this rank has no device memory
     */
    @Override
    public Work submit(Collective call, CollectiveBackend host, RankContext context, CallOptions options) {
        if (!isOnDevice(call)) {
            return behind(call, host, context, options);
        }
        RoundTripCopies route = RoundTripCopies.of(call, host.rank(), host.worldSize());
        PieceLayout cut = PieceLayout.of(call, host.worldSize(), context);
        RoundTripState.RoundTripLease lease = RoundTripState.RoundTripLease.of(context);
        RoundTripState trips = lease.trips();
        RoundTripWork work = new RoundTripWork(call.kind().label(), host, lease, options);
        Runnable task = () -> {
            Throwable failure = null;
            try {
                new PiecewiseCall(work, route, cut, host, trips.memory()).run(trips.pool());
            } catch (RuntimeException | Error thrown) {
                failure = thrown;
            }
            work.end(failure);
        };
        work.queue(task, lease);
        return work;
    }

    /** Queues a call on host tensors behind calls on device tensors. Reports misuse at once, like the host back end. */
    private static Work behind(Collective call, CollectiveBackend host, RankContext context, CallOptions options) {
        call.check(host.rank(), host.worldSize());
        host.unsupportedBecause(call).ifPresent(why -> {
            throw new UnsupportedOperationException(
                    call.kind() + " on rank " + host.rank() + " of " + host.worldSize() + ": " + why);
        });
        RoundTripState.RoundTripLease lease = RoundTripState.RoundTripLease.of(context);
        RoundTripWork work = new RoundTripWork(call.kind().label(), host, lease, options);
        work.queue(() -> handOver(call, host, work), lease);
        return work;
    }

    private static void handOver(Collective call, CollectiveBackend host, RoundTripWork work) {
        try {
            work.stopIfLate("an earlier operation");
            Work network = host.submit(call, work.rest());
            work.numbered(network.sequence());
            network.completion().whenComplete((nothing, failure) -> work.end(RoundTripWork.plain(failure)));
        } catch (RuntimeException | Error failure) {
            work.end(failure);
        }
    }

    static boolean isOnDevice(Collective call) {
        return Objects.requireNonNull(call, "call").in() instanceof DeviceTensor || call.out() instanceof DeviceTensor;
    }

    @Override
    public boolean isBusy(CollectiveBackend host, RankContext context, Duration patience) {
        return RoundTripState.isBusy(host, context, patience);
    }

    @Override
    public Work transfer(Message message, CollectiveBackend host, RankContext context, CallOptions options) {
        RoundTripState.RoundTripLease lease = RoundTripState.RoundTripLease.of(context);
        RoundTripWork clock = new RoundTripWork(message.kind().label(), host, lease, options);
        return new MessageTransfer(message, host, lease, clock).start();
    }
}
