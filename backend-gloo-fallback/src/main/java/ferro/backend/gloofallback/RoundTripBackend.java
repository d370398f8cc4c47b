package ferro.backend.gloofallback;

import ferro.CallOptions;
import ferro.CollectiveBackend;
import ferro.Message;
import ferro.Work;
import ferro.dispatch.GpuCollectives;
import ferro.spi.ForwardingBackend;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.Objects;

/**
 * A host back end that also accepts device tensors, through {@link GpuCollectives#over}. Permission, warning and order
 * of paths are the same as with {@link GpuCollectives}. This back end keeps the {@link RoundTripState} of its rank
 * open, so that staging memory is kept.
 */
final class RoundTripBackend extends ForwardingBackend {
    private final CollectiveBackend host;
    private final RankContext context;
    private final RoundTripState.RoundTripLease lease;
    private boolean closed;

    RoundTripBackend(CollectiveBackend host, RankContext context) {
        super(GpuCollectives.with(context).over(host));
        this.host = host;
        this.context = context;
        this.lease = RoundTripState.RoundTripLease.of(context);
    }

    @Override
    public Work transfer(Message message, CallOptions options) {
        return inner().transfer(message, options);
    }

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        return new RoundTripBackend(host.newGroup(ranks, name, timeout), context);
    }

    @Override
    public void close(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        try {
            inner().close(timeout);
        } finally {
            release();
        }
    }

    private synchronized void release() {
        if (!closed) {
            closed = true;
            lease.trips().lane(host).end();
            lease.close();
        }
    }

    @Override
    public String toString() {
        return RoundTripProvider.NAME + " over " + host;
    }
}
