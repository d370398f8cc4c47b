package ferro.collectives;

import ferro.spi.Link;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.function.Supplier;

/**
 * Rank 0 of a medium that moves nothing by itself.
 *
 * @param worldSize ranks
 * @param links     makes each link to another rank
 */
record Motionless(int worldSize, Supplier<Link> links) implements Transport {
    @Override
    public int rank() {
        return 0;
    }

    @Override
    public Link link(int peer, Lane lane) {
        return links.get();
    }

    @Override
    public Transport subgroup(int[] ranks, long group) {
        return this;
    }

    @Override
    public boolean poll() {
        return false;
    }

    @Override
    public void park(long deadlineNanos) {
        Thread.onSpinWait();
    }

    @Override
    public void wakeup() {
        // nobody parks for long
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        // the other rank keeps it to itself
    }

    @Override
    public void events(Events events) {
        // nothing happens here
    }

    @Override
    public void abandon() {
        // nobody else knows the memory
    }

    @Override
    public void close() {
        // nothing is held
    }
}
