package ferro.collectives.engine;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A medium of two ranks, of which the other is always ready: whatever is posted for a collective is finished at once, of messages
 * what is sent. Keeps the stack of each send.
 */
final class LoopTransport implements Transport {
    /** Every send; whichever thread of the engine makes progress adds to it. */
    final List<Sent> sends = new CopyOnWriteArrayList<>();

    /**
     * A send.
     *
     * @param thread who did it
     * @param stack simple names of class and method, the innermost frame first
     */
    record Sent(Thread thread, List<String> stack) {}

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
        return new LoopLink(lane);
    }

    @Override
    public Transport subgroup(int[] ranks, long group) {
        return new LoopTransport();
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
        // nobody sleeps
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        // the other rank has nothing to say
    }

    @Override
    public void events(Events events) {
        // nothing happens
    }

    @Override
    public void abandon() {
        // what is posted is finished
    }

    @Override
    public void close() {
        // there is nothing to give back
    }

    private final class LoopLink implements Link {
        private final Lane lane;
        private long sent;
        private long received;

        LoopLink(Lane lane) {
            this.lane = lane;
        }

        @Override
        public void send(CallHeader call, HostTensor data, long from, long count) {
            sent++;
            sends.add(new Sent(Thread.currentThread(), Stacks.here()));
        }

        @Override
        public void receive(CallHeader call, HostTensor into, long from, long count) {
            received += lane == Lane.COLLECTIVE ? 1 : 0;
        }

        @Override
        public void receiveCombine(CallHeader call, HostTensor into, long from, long count, ReduceOp op) {
            received++;
        }

        @Override
        public long sent() {
            return sent;
        }

        @Override
        public long received() {
            return received;
        }

        @Override
        public long bytesMoved() {
            return 0;
        }
    }
}
