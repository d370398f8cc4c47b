package ferro.collectives.shared;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.PostRing;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport.Lane;

/**
 * One lane to one rank of the same host: a ring in the peer's segment and a ring in this rank's. Used by the thread that
 * makes progress.
 */
final class IntraNodeLink implements Link {
    private final IntraNodeLinks home;
    private final int peer;
    private final Lane lane;
    private final RingWriter outgoing;
    private final RingReader incoming;
    private boolean active;
    /** Set when the link moves and reports nothing any more. */
    private boolean dead;

    IntraNodeLink(IntraNodeLinks home, int peer, Lane lane, RingWriter outgoing, RingReader incoming) {
        this.home = home;
        this.peer = peer;
        this.lane = lane;
        this.outgoing = outgoing;
        this.incoming = incoming;
    }

    int peer() {
        return peer;
    }

    @Override
    public void send(CallHeader call, HostTensor data, long from, long count) {
        if (!dead) {
            outgoing.posts().add(call, data, from, count);
            home.activate(this);
        }
    }

    @Override
    public void receive(CallHeader call, HostTensor into, long from, long count) {
        if (!dead) {
            incoming.posts().add(call, into, from, count);
            home.activate(this);
        }
    }

    @Override
    public void receiveCombine(CallHeader call, HostTensor into, long from, long count, ReduceOp op) {
        if (!dead) {
            incoming.posts().add(call, into, from, count, home.kernel(into.dataType(), op));
            home.activate(this);
        }
    }

    @Override
    public long sent() {
        return outgoing.posts().finished();
    }

    @Override
    public long received() {
        return incoming.posts().finished();
    }

    @Override
    public long bytesMoved() {
        return outgoing.bytesMoved() + incoming.bytesMoved();
    }

    /** Returns whether the link is in its home's list of links to poll. */
    boolean active() {
        return active;
    }

    void active(boolean now) {
        active = now;
    }

    /** Returns whether a send or a receive is posted. */
    boolean busy() {
        return !dead && !(outgoing.posts().isEmpty() && incoming.posts().isEmpty());
    }

    /** Returns whether data has come for which no receive is posted. */
    boolean hasUnexpected() {
        return !dead && incoming.posts().isEmpty() && incoming.hasUnread();
    }

    /** Moves what can be moved now; returns whether anything moved. */
    boolean move() {
        boolean moved = exchange();
        if (!moved && busy() && home.isGone(peer)) {
            // by now everything that the peer did before it left is visible
            moved = exchange();
            if (!moved && busy()) {
                dead = true;
                long waitedFor = lane == Lane.COLLECTIVE ? incoming.posts().sequence() : -1;
                home.events().broken(peer, waitedFor, PostRing.progress(incoming.posts(), 0, outgoing.posts()));
            }
        }
        return moved;
    }

    private boolean exchange() {
        boolean moved = outgoing.push() | incoming.pull();
        if (incoming.unexpectedHeader() != null && !dead) {
            dead = true;
            home.events().mismatched(peer, incoming.posts().oldest().call(), incoming.unexpectedHeader());
        }
        return moved;
    }

    /** Drops all posts at once; later ones are ignored. */
    void drop() {
        dead = true;
        outgoing.posts().clear();
        incoming.posts().clear();
    }
}
