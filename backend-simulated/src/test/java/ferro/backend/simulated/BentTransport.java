package ferro.backend.simulated;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.function.UnaryOperator;

/** A transport that does what another does, for planted bugs to change; subgroups are bent in the same way. */
class BentTransport implements Transport {
    /** First byte of a control message of a rank whose group has failed. */
    static final int ABORT = 1;
    /** First byte of a control message of a rank that says where it stands. */
    static final int STATUS = 5;
    /** First byte of a control message of a rank that makes a group. */
    static final int AGREE = 6;
    /** Where the turn stands in it: behind kind and attempt. */
    static final int TURN_PLACE = 9;
    /** These three have at least so many; those of memberships that begin with the same byte have fewer in a simulation. */
    private static final int LEAST_CONTROL_BYTES = 26;

    final Transport straight;
    private final UnaryOperator<Transport> bend;

    BentTransport(Transport straight, UnaryOperator<Transport> bend) {
        this.straight = straight;
        this.bend = bend;
    }

    /** Returns whether a control message is sent. */
    boolean sends(int peer, ByteBuffer message) {
        return true;
    }

    /** Returns whether a control message is delivered. */
    boolean hears(int peer, ByteBuffer message) {
        return true;
    }

    /** Changes the event of a link that ended. */
    void broken(Events events, int peer, FerroException cause) {
        events.broken(peer, cause);
    }

    /** Changes a link. */
    Link bent(Link link) {
        return link;
    }

    static boolean isOf(int kind, ByteBuffer message) {
        return message.get(message.position()) == kind && message.remaining() >= LEAST_CONTROL_BYTES;
    }

    /** Whether a message of one kind is sent. */
    interface Sending {
        boolean sends(BentTransport transport, int peer, ByteBuffer message);
    }

    /** Sends only some messages of one kind. */
    static UnaryOperator<Transport> sending(int kind, Sending sending) {
        return straight -> new BentTransport(straight, sending(kind, sending)) {
            @Override
            boolean sends(int peer, ByteBuffer message) {
                return !isOf(kind, message) || sending.sends(this, peer, message);
            }
        };
    }

    /** Changes each link. */
    static UnaryOperator<Transport> linking(UnaryOperator<Link> bent) {
        return straight -> new BentTransport(straight, linking(bent)) {
            @Override
            Link bent(Link link) {
                return bent.apply(link);
            }
        };
    }

    @Override
    public int rank() {
        return straight.rank();
    }

    @Override
    public int worldSize() {
        return straight.worldSize();
    }

    @Override
    public Link link(int peer, Lane lane) {
        return bent(straight.link(peer, lane));
    }

    @Override
    public Transport subgroup(int[] ranks, long group) {
        return bend.apply(straight.subgroup(ranks, group));
    }

    @Override
    public boolean poll() {
        return straight.poll();
    }

    @Override
    public void park(long deadlineNanos) {
        straight.park(deadlineNanos);
    }

    @Override
    public void wakeup() {
        straight.wakeup();
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        if (sends(peer, message)) {
            straight.control(peer, message);
        }
    }

    @Override
    public void events(Events events) {
        straight.events(new Events() {
            @Override
            public void closed(int peer, FerroException cause) {
                events.closed(peer, cause);
            }

            @Override
            public void lost(int peer, FerroException cause) {
                events.lost(peer, cause);
            }

            @Override
            public void broken(int peer, FerroException cause) {
                BentTransport.this.broken(events, peer, cause);
            }

            @Override
            public void mismatched(int peer, CallHeader expected, CallHeader found) {
                events.mismatched(peer, expected, found);
            }

            @Override
            public void control(int peer, ByteBuffer message) {
                if (hears(peer, message)) {
                    events.control(peer, message);
                }
            }
        });
    }

    @Override
    public void abandon() {
        straight.abandon();
    }

    @Override
    public void close() {
        straight.close();
    }

    /** A link that does what another does. */
    static class BentLink implements Link {
        final Link straight;

        BentLink(Link straight) {
            this.straight = straight;
        }

        CallHeader header(CallHeader call) {
            return call;
        }

        @Override
        public void send(CallHeader call, HostTensor data, long from, long count) {
            straight.send(header(call), data, from, count);
        }

        @Override
        public void receive(CallHeader call, HostTensor into, long from, long count) {
            straight.receive(header(call), into, from, count);
        }

        @Override
        public void receiveCombine(CallHeader call, HostTensor into, long from, long count, ReduceOp op) {
            straight.receiveCombine(header(call), into, from, count, op);
        }

        @Override
        public long sent() {
            return straight.sent();
        }

        @Override
        public long bytesMoved() {
            return straight.bytesMoved();
        }

        @Override
        public long received() {
            return straight.received();
        }
    }
}
