package ferro.backend.tcp;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.posts.PostRing;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import io.netty.channel.Channel;
import java.io.IOException;

/**
 * One lane to one peer over one data connection. Posts wait in two rings; {@link #move} moves them while the connection is
 * there. Belongs to the driver of its {@link DrivenLinks}.
 */
final class TcpLink implements Link {
    private final DrivenLinks home;
    private final LinkEvents events;
    private final Outgoing outgoing;
    private final Incoming incoming;
    private Wire wire;
    /** Why nothing moves any more; told once something is posted. */
    private FerroException ending;

    /** Nothing is to move or to tell any more. */
    private boolean dead;

    private boolean activated;

    TcpLink(DrivenLinks home, LinkEvents events) {
        this.home = home;
        this.events = events;
        this.outgoing = new Outgoing(home.staging());
        this.incoming = new Incoming(home.staging());
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

    @Override
    public void retire() {
        outgoing.clear();
        incoming.clear();
    }

    /** Gives the link its connection; what was posted before goes out now. */
    void connect(Wire connection) {
        if (dead || wire != null) {
            connection.close();
            return;
        }
        wire = connection;
        home.activate(this);
    }

    /** Says that there will be no connection. */
    void fail(FerroException cause) {
        if (ending == null) {
            ending = cause;
            home.activate(this);
        }
    }

    /** Returns whether its home has it among those that are asked to move. */
    boolean activated() {
        return activated;
    }

    void activated(boolean now) {
        activated = now;
    }

    /** Returns whether something is posted; a link without posts need not be asked to move. */
    boolean busy() {
        return !dead && !(outgoing.posts().isEmpty() && incoming.posts().isEmpty());
    }

    /** Returns whether the loop has seen something that lets a pending post move. */
    boolean ready() {
        if (wire == null || ending != null) {
            return ending != null;
        }
        return wire.readable() && !incoming.posts().isEmpty()
                || wire.writable() && !outgoing.posts().isEmpty();
    }

    /** Returns whether a send waits for room in the kernel. */
    boolean crammed() {
        return wire != null && !outgoing.posts().isEmpty() && !wire.writable();
    }

    /** Tells the loop what the next wait shall end for. */
    void want() {
        if (wire != null) {
            wire.want(!incoming.posts().isEmpty(), !outgoing.posts().isEmpty());
        }
    }

    /**
     * Moves what goes now.
     *
     * @param eager whether to read even where the loop has seen nothing
     * @return whether anything moved
     */
    boolean move(boolean eager) {
        boolean moved = false;
        if (wire != null) {
            moved = wire.writable() && push();
            moved |= (eager || wire.readable() || ending != null) && pull();
        }
        if (ending != null && !moved && busy()) {
            dead = true;
            // a peer that has left in good order reads on until this side ends the connection, too
            closeWire();
            events.broken(ending);
        }
        return moved;
    }

    /** Drops posts and connection at once; later posts are ignored. */
    void close() {
        dead = true;
        outgoing.clear();
        incoming.clear();
        closeWire();
    }

    /** Drops posts, and gives the connection to whoever ends it in good order; null if there is none. */
    Channel leave() {
        dead = true;
        outgoing.clear();
        incoming.clear();
        Channel given = wire == null ? null : wire.release();
        wire = null;
        return given;
    }

    /** Returns whether there is a connection, over which something may have gone. */
    boolean isConnected() {
        return wire != null;
    }

    private void closeWire() {
        if (wire != null) {
            wire.close();
            wire = null;
        }
    }

    private boolean push() {
        if (outgoing.posts().isEmpty() || ending != null) {
            return false;
        }
        try {
            return outgoing.push(wire);
        } catch (IOException refused) {
            // what the peer sent before it went may still be read: told only when that is exhausted
            ending = events.ended(incoming.posts().sequence(), progress(), refused);
            return false;
        }
    }

    private boolean pull() {
        if (incoming.posts().isEmpty()) {
            return false;
        }
        try {
            long came = incoming.pull(wire);
            if (came < 0 && ending == null) {
                ending = events.ended(incoming.posts().sequence(), progress(), null);
            }
            return came > 0 && !stopAtStrangeHeader();
        } catch (IOException reset) {
            if (ending == null) {
                ending = events.ended(incoming.posts().sequence(), progress(), reset);
            }
            return false;
        }
    }

    /** Nothing is read behind a header that was not expected: whose elements follow is unknown. */
    private boolean stopAtStrangeHeader() {
        CallHeader found = incoming.strange();
        if (found == null) {
            return false;
        }
        dead = true;
        events.mismatched(incoming.posts().oldest().call(), found);
        return true;
    }

    private String progress() {
        return PostRing.progress(incoming.posts(), incoming.restBytes(), outgoing.posts());
    }
}
