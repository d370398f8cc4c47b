package ferro.collectives.engine;

import ferro.spi.Link;
import ferro.spi.Transport;
import java.nio.ByteBuffer;

/** Rank 0 of a medium of two ranks on which nothing happens. */
class IdleTransport implements Transport {
    @Override
    public int rank() {
        return 0;
    }

    @Override
    public int worldSize() {
        return 2;
    }

    @Override
    public Link link(int peer, Lane lane) {
        throw new UnsupportedOperationException("no data lanes, asked for one to " + peer);
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
        Thread.yield();
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
        // nothing is posted
    }

    @Override
    public void close() {
        // nothing is held
    }
}
