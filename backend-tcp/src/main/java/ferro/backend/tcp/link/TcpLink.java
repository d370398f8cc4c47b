package ferro.backend.tcp.link;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.PostRing;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import io.netty.channel.Channel;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * One lane to one peer, over one data connection at a time. Pending sends and pending receives wait in one ring buffer
 * each. {@link #move} moves the bytes of the posts while a connection exists. Used by the thread that polls the {@link
 * PolledLinks} of the link.
 *
 * <p>When the connection ends, the link requests a new connection with the next epoch. The link continues if no byte
 * was in flight (see {@link ReconnectHandshake}). The link fails only if a byte was in flight, or if no new connection
 * can be made.
 */
public final class TcpLink implements Link {
    /** The time without a write after which the next write first checks whether the connection has ended. */
    private static final long IDLE_NANOS = 10_000_000;
    /**
     * Maximum number of successive connections that end before both sides have sent their byte counts. After so many
     * the link fails.
     */
    private static final int ENDED_AT_ONCE_MOST = 3;
    /**
     * If a connection ends later than this after its start, it was probably only idle, because this side waited for the
     * peer's next call.
     */
    private static final long AT_ONCE_NANOS = 1_000_000_000;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final PolledLinks home;
    private final LinkListener events;
    private final LinkSender outgoing;
    private final LinkReceiver incoming;
    private DataSocket wire;
    /** The replacement of {@link #wire}, which the peer has ended. Used after all bytes of {@link #wire} were read. */
    private ReconnectHandshake next;

    /** The connection {@link #wire} while it is being drained because of its byte limit; otherwise null. */
    private DrainingSocket retiring;
    /** Bytes of earlier connections for which no receive is posted yet. */
    private ByteBuffer kept = NOTHING;

    private ReconnectHandshake successor;
    /** The epoch of the last connection that was requested, or that arrived. */
    private int asked;
    /** The epoch of the last connection that arrived. */
    private int taken = -1;

    private int endedAtOnce;
    /** The time at which {@link #successor} was set. */
    private long succeeding;

    private long lastWrite = System.nanoTime();
    private boolean mayHaveEnded;
    /** The reason why no more bytes are moved. The link reports this reason when a post exists. */
    private FerroException ending;

    /** Whether the reason in {@link #ending} is final. Then the link requests no other connection. */
    private boolean last;
    /** The failure that ended the last connection, while the link waits for a new connection. */
    private FerroException lost;

    /** Whether the link is closed. A closed link moves and reports nothing. */
    private boolean dead;

    private boolean activated;

    /** Creates a link without a connection. {@link #connect} sets the connection. */
    public TcpLink(PolledLinks home, LinkListener events) {
        this.home = home;
        this.events = events;
        this.outgoing = new LinkSender(home.staging());
        this.incoming = new LinkReceiver(home.staging());
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

    /**
     * Records whether the link was idle before this send. Bytes written to a connection that the peer has ended are
     * lost, so the next write first checks the connection.
     */
    private void noteIdleness() {
        if (outgoing.posts().isEmpty()) {
            long now = System.nanoTime();
            mayHaveEnded |= now - lastWrite > IDLE_NANOS;
            lastWrite = now;
        }
    }

    /**
     * Sets the first connection of the link, or a connection that replaces the last connection. Pending posts move over
     * the given connection.
     *
     * @param epoch 0, or a higher number than the epoch of the last connection; otherwise the connection is closed
     */
    public void connect(DataSocket connection, int epoch) {
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
            next = new ReconnectHandshake(connection, outgoing.bytesMoved());
            next.announce();
        }
        home.activate(this);
    }

    /** Records that no connection to the peer will be made. */
    public void fail(FerroException cause) {
        if (ending == null) {
            ending = lost == null ? cause : events.redialFailed(lost, cause);
            home.activate(this);
        }
        last = true;
    }

    /** Returns whether the {@link PolledLinks} poll this link. */
    boolean activated() {
        return activated;
    }

    void activated(boolean now) {
        activated = now;
    }

    /** Returns whether the link has work, such as a post. A link without work need not be polled. */
    boolean busy() {
        return !dead && (successor != null || retiring != null || next != null && wire == null || isPosted());
    }

    private boolean isPosted() {
        return !(outgoing.posts().isEmpty() && incoming.posts().isEmpty());
    }

    /** Returns whether the loop has reported an event after which a pending post may move. */
    boolean ready() {
        if (ending != null || next != null && retiring == null) {
            return true;
        }
        if (wire == null) {
            return successor != null && successor.ready();
        }
        return wire.readable() && !incoming.posts().isEmpty()
                || retiring != null && retiring.hasMore(next != null)
                || wire.writable() && !outgoing.posts().isEmpty();
    }

    /** Returns whether a send waits for space in the kernel's buffer. */
    boolean isWriteBlocked() {
        return wire != null && !outgoing.posts().isEmpty() && !wire.writable();
    }

    /** Sets the events that end the loop's next wait. */
    void want() {
        if (successor != null) {
            successor.want();
        } else if (wire != null) {
            boolean reads = !incoming.posts().isEmpty() || retiring != null && retiring.wantsMore(next != null);
            wire.want(reads, retiring == null && !outgoing.posts().isEmpty());
        }
    }

    /**
     * Moves the bytes that can be moved now.
     *
     * @param eager whether to read even without an event of the loop
     * @return whether any bytes were moved
     */
    boolean move(boolean eager) {
        boolean moved = false;
        if (wire != null) {
            moved = wire.writable() && push();
            moved |= (eager || wire.readable() || ending != null || next != null) && pull();
            readAhead();
        }
        if (!moved && (successor != null || next != null && mayGoOver())) {
            moved = succeed();
        }
        if (ending != null && !moved && busy()) {
            end();
        }
        return moved;
    }

    /**
     * Returns whether to switch to the new connection. If an old connection exists, the switch copies the unread bytes
     * of the old connection to memory. Therefore the link first waits for a post, or until an old connection that is
     * being drained has been read completely.
     */
    private boolean mayGoOver() {
        return wire == null || (retiring == null ? isPosted() : ending != null);
    }

    /**
     * Closes the connection, from which no more bytes are read. Requests a new connection, or reports the failure of
     * the link.
     */
    private void end() {
        boolean again = !last && ending.code() == FerroException.Code.PEER_LOST && endedAtOnce < ENDED_AT_ONCE_MOST;
        if (again) {
            keepRest();
        }
        // a peer that has left normally reads until this side closes the connection as well
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

    /** Replaces the last connection by a new connection. Returns whether any byte was moved. */
    private boolean succeed() {
        if (last) {
            return false;
        }
        if (next != null) {
            ReconnectHandshake fresh = next;
            next = null;
            lost = ending != null ? ending : lost;
            ending = null;
            keepRest();
            closeWires();
            successor = fresh;
            successor.settle(incoming.bytesMoved() + kept.remaining());
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
            wire = PushbackSocket.of(successor.wire(), kept);
            successor = null;
            endedAtOnce = 0;
            events.resumed(taken, lost);
            lost = null;
            return;
        }
        FerroException known =
                lost != null ? lost : events.ended(incoming.posts().sequence(), progress(), null);
        ending = events.underWay(known, successor.lostThere(), successor.lostHere());
        last = true;
    }

    /** Drops the posts and the connection at once. Later posts are ignored. */
    public void close() {
        dead = true;
        outgoing.clear();
        incoming.clear();
        closeWires();
    }

    /**
     * Drops the posts and returns the connection, or null if none exists. The caller must close the connection
     * normally.
     */
    public Channel leave() {
        dead = true;
        outgoing.clear();
        incoming.clear();
        Channel given = wire == null ? null : wire.release();
        wire = null;
        closeWires();
        return given;
    }

    /** Returns whether the link may have carried data, because a connection exists or is being replaced. */
    public boolean isConnected() {
        return wire != null || taken >= 0 && !dead;
    }

    /** Keeps the received bytes of the old connection for which no receive is posted yet. */
    private void keepRest() {
        // kept bytes are copied through the staging memory, which needs complete elements: no element may be half read
        boolean whole = wire != null && (!wire.takesLent() || incoming.isBetweenElements());
        if (whole && retiring == null) {
            retiring = DrainingSocket.ended(wire);
        }
        if (retiring != null) {
            try {
                retiring.readAhead(true);
            } catch (IOException reset) {
                // the bytes before the reset are kept, and the byte counts of the handshake show whether bytes are
                // missing
            }
        }
    }

    private void closeWires() {
        if (retiring != null) {
            kept = retiring.kept().hasRemaining() ? retiring.kept() : NOTHING;
            retiring = null;
        }
        close(wire);
        close(next);
        close(successor);
        wire = null;
        next = null;
        successor = null;
    }

    private static void close(DataSocket one) {
        if (one != null) {
            one.close();
        }
    }

    private static void close(ReconnectHandshake one) {
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
                    throw new EOFException(
                            "closed by the other side, after " + incoming.bytesMoved() + " bytes from that side");
                }
            }
            boolean moved = outgoing.push(wire);
            if (wire.isAtByteLimit() && !outgoing.posts().isEmpty()) {
                retiring = DrainingSocket.of(wire);
                wire = retiring;
            }
            return moved;
        } catch (IOException refused) {
            // bytes that the peer sent before it closed the connection are still read; the end is reported after these
            // bytes
            ending = events.ended(incoming.posts().sequence(), progress(), refused);
            return false;
        }
    }

    /**
     * Reads the remaining bytes of a connection that has reached its byte limit. Records its end in {@link #ending}.
     */
    private void readAhead() {
        if (retiring == null || ending != null) {
            return;
        }
        try {
            if (retiring.readAhead(next != null)) {
                ending = events.ended(incoming.posts().sequence(), progress(), null);
            }
        } catch (IOException reset) {
            ending = events.ended(incoming.posts().sequence(), progress(), reset);
        }
    }

    private boolean pull() {
        if (incoming.posts().isEmpty()) {
            return false;
        }
        try {
            long came = incoming.pull(wire);
            forgetKept();
            if (came < 0 && ending == null) {
                ending = events.ended(incoming.posts().sequence(), progress(), null);
            }
            return came > 0 && !stopAtUnexpectedHeader();
        } catch (IOException reset) {
            if (ending == null) {
                ending = events.ended(incoming.posts().sequence(), progress(), reset);
            }
            return false;
        }
    }

    /** Reads directly from the connection again when all kept bytes have been read. */
    private void forgetKept() {
        if (kept != NOTHING && !kept.hasRemaining() && incoming.isBetweenElements()) {
            wire = PushbackSocket.unlessEmpty(wire);
            kept = NOTHING;
        }
    }

    /**
     * Stops the link at an unexpected header, because it is unknown to which call the elements after the header belong.
     */
    private boolean stopAtUnexpectedHeader() {
        CallHeader found = incoming.posts().unexpectedHeader();
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
