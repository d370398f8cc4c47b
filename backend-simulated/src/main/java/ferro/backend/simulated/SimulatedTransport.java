package ferro.backend.simulated;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.InvalidRankException;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.SharedMemoryProvider;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The transport of one rank in one group, in memory. Links are created on first use. When a peer has done something for
 * a link, the peer pushes the link on a stack and signals the doorbell. A poll handles only the links on the stack, so
 * the cost of a poll does not depend on the number of ranks.
 */
final class SimulatedTransport implements Transport {
    private static final int PAGE = 64;
    private static final int LANES = Lane.values().length;

    private final NetworkState network;
    private final GroupKey group;
    private final GroupInbox[] inboxes;
    private final GroupInbox inbox;
    private final WakeSignal doorbell;
    private final PostCopier copier;
    private final AtomicReference<SimulatedLink> ready = new AtomicReference<>();
    /** Links by peer and lane, in a table of pages, so that a thousand ranks do not need a million entries. */
    private final SimulatedLink[][] pages;

    private final List<SimulatedLink> links = new ArrayList<>();
    private volatile boolean dropped;
    private volatile boolean dead;
    private boolean closed;
    private Events events;

    /**
     * The group of a transport.
     *
     * @param id      identity of the group; 0 for the group of all ranks
     * @param name    name of the group, for messages
     * @param rank    number of this rank in the group
     * @param members members of the group in order, by their ranks in the group of all ranks
     */
    record GroupKey(long id, String name, int rank, int[] members) {}

    SimulatedTransport(NetworkState network, GroupKey group) {
        this.network = network;
        this.group = group;
        this.inboxes = network.inboxes(group);
        this.inbox = inboxes[group.rank];
        this.copier = new PostCopier(group.members.length);
        this.doorbell = network.medium().doorbell(worldRank(group.rank));
        this.pages = new SimulatedLink[(group.members.length * LANES + PAGE - 1) / PAGE][];
        network.opened(this);
    }

    @Override
    public int rank() {
        return group.rank;
    }

    @Override
    public int worldSize() {
        return group.members.length;
    }

    String name() {
        return group.name;
    }

    int worldRank(int rank) {
        return group.members[rank];
    }

    /** Converts a rank of the group of all ranks to the rank in this group; -1 if the rank is not a member. */
    int rankOf(int worldRank) {
        for (int rank = 0; rank < group.members.length; rank++) {
            if (group.members[rank] == worldRank) {
                return rank;
            }
        }
        return -1;
    }

    GroupInbox inbox() {
        return inbox;
    }

    NetworkState network() {
        return network;
    }

    @Override
    public ferro.Medium medium() {
        return new ferro.Medium("memory of one process", List.of());
    }

    PostCopier copier() {
        return copier;
    }

    @Override
    public Link link(int peer, Lane lane) {
        int place = InvalidRankException.check(peer, worldSize()) * LANES + lane.ordinal();
        SimulatedLink[] page = pages[place / PAGE];
        SimulatedLink link = page == null ? null : page[place % PAGE];
        return link == null ? connect(peer, lane, place) : link;
    }

    private Link connect(int peer, Lane lane, int place) {
        GroupInbox.LinkQueuePair wire = network.connect(inbox, inboxes[peer], lane);
        SimulatedLink link = new SimulatedLink(this, peer, lane, wire);
        if (pages[place / PAGE] == null) {
            pages[place / PAGE] = new SimulatedLink[PAGE];
        }
        pages[place / PAGE][place % PAGE] = link;
        synchronized (links) {
            links.add(link);
            if (dropped) {
                link.drop();
            }
        }
        return link;
    }

    @Override
    public Transport subgroup(int[] ranks, long identity) {
        int[] members = new int[ranks.length];
        int self = -1;
        for (int i = 0; i < ranks.length; i++) {
            members[i] = worldRank(InvalidRankException.check(ranks[i], worldSize()));
            self = ranks[i] == rank() ? i : self;
        }
        if (self < 0) {
            throw new IllegalArgumentException("rank " + rank() + " of \"" + name() + "\" is not among the "
                    + ranks.length + " ranks of the new group: only members may make it");
        }
        String name = name() + "/" + Long.toHexString(identity);
        return new SimulatedTransport(network, new GroupKey(identity, name, self, members));
    }

    /** Pushes a link on the stack of links to poll. A link that is already on the stack is not pushed again. */
    void ready(SimulatedLink link) {
        SimulatedLink top;
        do {
            top = ready.get();
            link.nextReady = top;
        } while (!ready.compareAndSet(top, link));
    }

    @Override
    public Optional<SharedMemoryProvider> sharedMemory() {
        boolean few = worldSize() <= SimulatedMemory.RANKS_MOST;
        return few ? Optional.of(SimulatedMemory.of(network, group)) : Optional.empty();
    }

    @Override
    public boolean poll() {
        if (ready.get() == null) {
            return false;
        }
        boolean moved = false;
        SimulatedLink link = ready.getAndSet(null);
        while (link != null) {
            // the peer may push the link again as soon as this rank polls the link
            SimulatedLink next = link.nextReady;
            moved |= link.pump();
            link = next;
        }
        return moved;
    }

    @Override
    public void park(long deadlineNanos) {
        if (ready.get() == null) {
            doorbell.await(deadlineNanos);
        }
    }

    @Override
    public void wakeup() {
        doorbell.signal();
    }

    @Override
    public boolean parksVirtualThreads() {
        return true;
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        GroupInbox peers = inboxes[InvalidRankException.check(peer, worldSize())];
        if (dead || closed) {
            return;
        }
        byte[] copy = new byte[message.remaining()];
        message.get(message.position(), copy);
        network.medium().later(inbox.rank(), peers.rank(), () -> deliver(peer, ByteBuffer.wrap(copy)));
    }

    /** Delivers a control message of this rank to a peer. Notifies this rank if the peer has closed the group. */
    private void deliver(int peer, ByteBuffer message) {
        GroupInbox peers = inboxes[peer];
        int from = group.rank;
        if (peers.tell(receiver -> receiver.control(from, message))) {
            return;
        }
        FerroException cause = new FerroException(
                Code.PEER_LOST,
                Where.of(name(), rank()).blaming(peer),
                "rank " + rank() + " of \"" + name() + "\" sent a message to rank " + peer
                        + ", which has closed the group");
        network.medium().later(peers.rank(), inbox.rank(), () -> inbox.tell(receiver -> receiver.closed(peer, cause)));
    }

    @Override
    public void events(Events receiver) {
        events = receiver;
        inbox.events(receiver);
        network.medium().later(inbox.rank(), inbox.rank(), inbox::tellWaiting);
    }

    @Override
    public void abandon() {
        if (!dropped) {
            drop("gave up on the group");
            forget();
        }
    }

    @Override
    public boolean leave() {
        dropLinks();
        network.leave(inbox);
        forget();
        return !dead;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        drop("closed its end");
        forget();
        inbox.close();
        network.closed(this);
    }

    /** Ends this transport without a goodbye, because the rank has died. Any thread may call this method. */
    void die() {
        dead = true;
        inbox.die();
        drop("died");
    }

    private void drop(String why) {
        dropLinks();
        network.drop(inbox, why);
    }

    private void dropLinks() {
        synchronized (links) {
            dropped = true;
            links.forEach(SimulatedLink::drop);
        }
    }

    private void forget() {
        synchronized (links) {
            links.forEach(SimulatedLink::forget);
            links.clear();
        }
    }

    void tellMismatched(int peer, CallHeader expected, CallHeader found) {
        if (events != null) {
            events.mismatched(peer, expected, found);
        }
    }

    void tellBroken(int peer, long sequence, String why) {
        tellBroken(
                peer,
                sequence,
                Code.PEER_LOST,
                "lost rank " + peer + ", which " + why + "; the group has ended, restart all its ranks");
    }

    void tellOutOfStep(int peer, String expected, String found) {
        tellBroken(
                peer,
                -1,
                Code.PROTOCOL,
                "is out of step with rank " + peer + ": expected " + expected + ", found " + found
                        + ": both must post as many elements of a call, report this as a fault of ferro");
    }

    private void tellBroken(int peer, long sequence, Code code, String what) {
        if (events == null) {
            return;
        }
        Where where = Where.of(name(), rank()).blaming(peer).during("", sequence);
        events.broken(peer, new FerroException(code, where, "rank " + rank() + " of \"" + name() + "\" " + what));
    }
}
