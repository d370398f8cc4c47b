package ferro.backend.tcp;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.PostRing;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import io.netty.channel.Channel;
import java.io.EOFException;
import java.io.IOException;

/**
 * One lane to one peer over one data connection at a time. Posts wait in two rings; {@link #move} moves them while the connection
 * is there. Belongs to the driver of its {@link DrivenLinks}.
 *
 * <p>Where the connection ends, another is asked for, of the next epoch, and the link goes on by it if no byte was under way
 * (see {@link Successor}). Only if one was, or none can be made, is the end told.
 */
final class TcpLink implements Link {
    /** Before the first write after so long without one, the connection is asked whether it has ended meanwhile. */
    private static final long IDLE_NANOS = 10_000_000;
    /** Connections that end before both sides have said where they are; then the end counts. */
    private static final int ENDED_AT_ONCE_MOST = 3;
    /** One that lives longer has only waited for the peer's next call, and was idle as the one before. */
    private static final long AT_ONCE_NANOS = 1_000_000_000;

    private final DrivenLinks home;
    private final LinkEvents events;
    private final Outgoing outgoing;
    private final Incoming incoming;
    private Wire wire;
    /** Came in the place of {@link #wire}, which has ended at the other side; taken when what came before was read. */
    private Successor next;

    private Successor successor;
    /** The epoch of the last connection that was asked for, or came. */
    private int asked;
    /** The epoch of the last one that came. */
    private int taken = -1;

    private int endedAtOnce;
    /** When {@link #successor} was made. */
    private long succeeding;

    private long lastWrite = System.nanoTime();
    private boolean mayHaveEnded;
    /** Why nothing moves any more; told once something is posted. */
    private FerroException ending;

    /** Whether {@link #ending} stands: no other connection is asked for. */
    private boolean last;
    /** How the last connection ended, while another is awaited. */
    private FerroException lost;

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
            noteIdleness();
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

    /** A write into a connection that has ended at the other side is taken by the kernel, and lost. */
    private void noteIdleness() {
        if (outgoing.posts().isEmpty()) {
            long now = System.nanoTime();
            mayHaveEnded |= now - lastWrite > IDLE_NANOS;
            lastWrite = now;
        }
    }

    /**
     * Gives the link its connection, or one in the place of that; what was posted before goes out by it.
     *
     * @param epoch 0, or one more for each connection of this link before
     */
    void connect(Wire connection, int epoch) {
        if (dead || last || epoch <= taken) {
            connection.close();
            return;
        }
        taken = epoch;
        asked = Math.max(asked, epoch);
        if (epoch == 0) {
            wire = connection;
        } else {
            close(next);
            next = new Successor(connection, outgoing.bytesMoved());
            next.announce();
        }
        home.activate(this);
    }

    /** Says that there will be no connection. */
    void fail(FerroException cause) {
        if (ending == null) {
            ending = lost == null ? cause : events.notAgain(lost, cause);
            home.activate(this);
        }
        last = true;
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
        return !dead && (successor != null || next != null && wire == null || isPosted());
    }

    private boolean isPosted() {
        return !(outgoing.posts().isEmpty() && incoming.posts().isEmpty());
    }

    /** Returns whether the loop has seen something that lets a pending post move. */
    boolean ready() {
        if (ending != null || next != null) {
            return true;
        }
        if (wire == null) {
            return successor != null && successor.ready();
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
        if (successor != null) {
            successor.want();
        } else if (wire != null) {
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
            moved |= (eager || wire.readable() || ending != null || next != null) && pull();
        }
        if (!moved && (successor != null || next != null && mayGoOver())) {
            moved = succeed();
        }
        if (ending != null && !moved && busy()) {
            end();
        }
        return moved;
    }

    /** What the old connection still has is read when it is wanted, and lost when the new one is taken. */
    private boolean mayGoOver() {
        return wire == null || isPosted();
    }

    /** Nothing is read any more of the connection that has ended. */
    private void end() {
        boolean again = !last && ending.code() == FerroException.Code.PEER_LOST && endedAtOnce < ENDED_AT_ONCE_MOST;
        // a peer that has left in good order reads on until this side ends the connection, too
        closeWires();
        if (again && events.redial(asked + 1)) {
            asked++;
            lost = ending;
            ending = null;
        } else {
            dead = true;
            events.broken(ending);
        }
    }

    /** Puts another connection in the place of the last one; returns whether anything moved. */
    private boolean succeed() {
        if (last) {
            return false;
        }
        if (next != null) {
            Successor fresh = next;
            next = null;
            lost = ending != null ? ending : lost;
            ending = null;
            closeWires();
            successor = fresh;
            successor.settle(incoming.bytesMoved());
            succeeding = System.nanoTime();
        }
        try {
            boolean moved = successor.move();
            if (successor.isOver()) {
                compare();
            }
            return moved;
        } catch (IOException ended) {
            boolean atOnce = System.nanoTime() - succeeding < AT_ONCE_NANOS;
            endedAtOnce = atOnce ? endedAtOnce + 1 : 0;
            ending = events.ended(incoming.posts().sequence(), progress(), ended);
            return false;
        }
    }

    private void compare() {
        if (successor.lostHere() == 0 && successor.lostThere() == 0) {
            wire = successor.wire();
            successor = null;
            lost = null;
            endedAtOnce = 0;
            events.resumed(taken);
            return;
        }
        FerroException known =
                lost != null ? lost : events.ended(incoming.posts().sequence(), progress(), null);
        ending = events.underWay(known, successor.lostThere(), successor.lostHere());
        last = true;
    }

    /** Drops posts and connection at once; later posts are ignored. */
    void close() {
        dead = true;
        outgoing.clear();
        incoming.clear();
        closeWires();
    }

    /** Drops posts, and gives the connection to whoever ends it in good order; null if there is none. */
    Channel leave() {
        dead = true;
        outgoing.clear();
        incoming.clear();
        Channel given = wire == null ? null : wire.release();
        wire = null;
        closeWires();
        return given;
    }

    /** Returns whether there is a connection, over which something may have gone; or was, and another is awaited. */
    boolean isConnected() {
        return wire != null || taken >= 0 && !dead;
    }

    private void closeWires() {
        close(wire);
        close(next);
        close(successor);
        wire = null;
        next = null;
        successor = null;
    }

    private static void close(Wire one) {
        if (one != null) {
            one.close();
        }
    }

    private static void close(Successor one) {
        if (one != null) {
            close(one.wire());
        }
    }

    private boolean push() {
        if (outgoing.posts().isEmpty() || ending != null || next != null) {
            return false;
        }
        try {
            if (mayHaveEnded) {
                mayHaveEnded = false;
                if (wire.ended()) {
                    throw new EOFException("by the other side");
                }
            }
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
