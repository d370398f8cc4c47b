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
 * Collectives on device tensors in three steps: device to host, the collective on a host back end, host to device.
 *
 * <p>Calls are cut into pieces of {@code ferro.fallback.chunk}, so that a call uses at most 32 MiB of staging memory, which
 * is kept for the next call. Only what is needed is copied: in a broadcast only the root
 * copies out, and it copies nothing back. The calls of one host group keep their order; the calls of several groups do
 * not wait for each other.
 *
 * <p>In a call with more than one piece every rank must use this path, with device tensors. A message is one message for
 * its peer, which may send or receive it from host memory.
 *
 * <p>Thread-safe; an object keeps no state.
 */
public final class HostRoundTrip implements HostFallback {
    /** For the service loader. */
    public HostRoundTrip() {}

    @Override
    public Optional<String> unavailableBecause(RankContext context) {
        return DeviceMemories.unavailableBecause(context);
    }

    @Override
    public Optional<String> unsupportedBecause(Collective call, RankContext context) {
        // a chunk size that makes no sense is misuse too, and is reported before the warning about the slow path
        Settings.FALLBACK_CHUNK.of(context);
        return Refusals.of(call);
    }

    @Override
    public Optional<String> unsupportedBecause(Message message) {
        return Refusals.of(message);
    }

    /**
     * Starts a collective.
     *
     * @throws UnsupportedOperationException if there is no device memory
     */
    @Override
    public Work submit(Collective call, CollectiveBackend host, RankContext context, CallOptions options) {
        if (!isOnDevice(call)) {
            return HostCall.behind(call, host, context, options);
        }
        RoundTripRoute route = RoundTripRoute.of(call, host.rank(), host.worldSize());
        PieceCut cut = PieceCut.of(call, host.worldSize(), context);
        RoundTrips.RoundTripUse use = RoundTrips.RoundTripUse.of(context);
        RoundTrips trips = use.trips();
        RoundTripWork work = new RoundTripWork(call.kind().label(), host, context, trips.dependants(), options);
        Runnable task = () -> {
            Throwable failure = null;
            try {
                new PieceRun(work, route, cut, host, trips.memory()).run(trips.pool());
            } catch (RuntimeException | Error thrown) {
                failure = thrown;
            }
            work.end(failure);
        };
        work.queue(task, use);
        return work;
    }

    static boolean isOnDevice(Collective call) {
        return Objects.requireNonNull(call, "call").in() instanceof DeviceTensor || call.out() instanceof DeviceTensor;
    }

    @Override
    public boolean isBusy(CollectiveBackend host, RankContext context, Duration patience) {
        return RoundTrips.isBusy(host, context, patience);
    }

    @Override
    public Work transfer(Message message, CollectiveBackend host, RankContext context, CallOptions options) {
        RoundTrips.RoundTripUse use = RoundTrips.RoundTripUse.of(context);
        RoundTripWork clock = new RoundTripWork(
                message.kind().label(), host, context, use.trips().dependants(), options);
        return new MessageTransfer(message, host, use, clock).start();
    }
}
