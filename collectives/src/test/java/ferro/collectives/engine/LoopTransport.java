package ferro.collectives.engine;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A medium of two ranks, of which the other is always ready: whatever is posted for a collective is finished at once, of messages
 * what is sent. Keeps the stack of each send.
 */
final class LoopTransport extends IdleTransport {
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
    public Link link(int peer, Lane lane) {
        return new LoopLink(lane);
    }

    @Override
    public Transport subgroup(int[] ranks, long group) {
        return new LoopTransport();
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
