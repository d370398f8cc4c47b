package ferro.backend.gloofallback;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.Work;
import ferro.spi.RankContext;

/** Queues calls on host tensors behind calls on device tensors. */
final class HostCall {
    private HostCall() {}

    /** Queues a call; reports misuse at once, as the host back end would. */
    static Work behind(Collective call, CollectiveBackend host, RankContext context, CallOptions options) {
        call.check(host.rank(), host.worldSize());
        host.unsupportedBecause(call).ifPresent(why -> {
            throw new UnsupportedOperationException(
                    call.kind() + " on rank " + host.rank() + " of " + host.worldSize() + ": " + why);
        });
        RoundTrips.RoundTripUse use = RoundTrips.RoundTripUse.of(context);
        RoundTripWork work = new RoundTripWork(
                call.kind().label(), host, context, use.trips().dependants(), options);
        work.queue(() -> handOver(call, host, work), use);
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
}
