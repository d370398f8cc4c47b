package ferro.collectives.shared;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.PostRing;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport.Lane;

/** One lane to one near rank: a ring in its area and one in this rank's. Belongs to whoever drives. */
final class NearLink implements Link {
    private final NearLinks home;
    private final int peer;
    private final Lane lane;
    private final RingWriter outgoing;
    private final RingReader incoming;
    private boolean active;
    /** Nothing is to move or to tell any more. */
    private boolean dead;

    NearLink(NearLinks home, int peer, Lane lane, RingWriter outgoing, RingReader incoming) {
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

    /** Returns whether its home has it among those that are asked to move. */
    boolean active() {
        return active;
    }

    void active(boolean now) {
        active = now;
    }

    /** Returns whether something is posted. */
    boolean busy() {
        return !dead && !(outgoing.posts().isEmpty() && incoming.posts().isEmpty());
    }

    /** Returns whether something has come for which no receive is posted. */
    boolean knocks() {
        return !dead && incoming.posts().isEmpty() && incoming.hasUnread();
    }

    /** Moves what goes now; returns whether anything did. */
    boolean move() {
        boolean moved = exchange();
        if (!moved && busy() && home.isGone(peer)) {
            // what the peer did before it went is seen by now
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
        if (incoming.strange() != null && !dead) {
            dead = true;
            home.events().mismatched(peer, incoming.posts().oldest().call(), incoming.strange());
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
