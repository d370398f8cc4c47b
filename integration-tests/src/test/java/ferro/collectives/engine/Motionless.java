package ferro.collectives.engine;

import ferro.spi.Link;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.function.Supplier;

/** Rank 0 of a medium that moves nothing by itself; {@code links} makes each link to another rank. */
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
        // park returns at once
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        // the message is dropped
    }

    @Override
    public void events(Events events) {
        // there are no events
    }

    @Override
    public void abandon() {
        // no other rank uses the memory
    }

    @Override
    public void close() {
        // nothing is held
    }
}
