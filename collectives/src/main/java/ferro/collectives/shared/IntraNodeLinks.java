package ferro.collectives.shared;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.PostRing;
import ferro.collectives.reduce.KernelCache;
import ferro.collectives.reduce.TypedViews;
import ferro.spi.CallHeader;
import ferro.spi.GroupSpec;
import ferro.spi.Link;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Supplier;

/** The intra-node links of one rank of one group. The thread that makes progress polls each link that has posts. */
final class IntraNodeLinks {
    private final GroupSpec group;
    private final int rank;
    private final SegmentLayout layout;
    private final ByteBuffer[] areas;
    private final SleepingRanks sleepers;
    private final Supplier<Transport.Events> events;
    /**
     * Views of this rank's segment. All rings from which this rank receives are in this segment. One set of views and
     * kernels therefore serves all received data. Only one thread at a time uses the views and kernels.
     */
    private final TypedViews incomingElements;

    private final KernelCache kernels;
    private final IntraNodeLink[][] links;
    private IntraNodeLink[] active = new IntraNodeLink[8];
    private int count;
    private boolean dropped;

    /**
     * Makes the links of a rank.
     *
     * @param areas  segments by rank, for this rank and the other ranks of its host; null for ranks of other hosts
     * @param events receives the events that end a link, on the thread that makes progress
     */
    IntraNodeLinks(
            GroupSpec group,
            SegmentLayout layout,
            ByteBuffer[] areas,
            SleepingRanks sleepers,
            Supplier<Transport.Events> events) {
        this.group = group;
        this.rank = group.rank();
        this.layout = layout;
        this.areas = areas;
        this.sleepers = sleepers;
        this.events = events;
        this.incomingElements = new TypedViews(areas[rank]);
        this.kernels = new KernelCache(areas.length);
        this.links = new IntraNodeLink[Lane.values().length][areas.length];
    }

    boolean reaches(int peer) {
        return areas[peer] != null;
    }

    boolean hasRing(int peer) {
        return layout.hasRings() && reaches(peer) && peer != rank;
    }

    IntraNodeLink link(int peer, Lane lane) {
        IntraNodeLink known = links[lane.ordinal()][peer];
        if (known == null) {
            known = new IntraNodeLink(peer, lane);
            links[lane.ordinal()][peer] = known;
        }
        return known;
    }

    /** Returns whether the ring from a peer holds data for which this rank has posted no receive. */
    boolean hasUnexpected(int peer, Lane lane) {
        IntraNodeLink known = links[lane.ordinal()][peer];
        if (known != null) {
            return !known.dead && known.incoming.posts().isEmpty() && known.incoming.hasUnread();
        }
        return !dropped && ProgressCounters.acquire(areas[rank], SegmentLayout.put(layout.ring(rank, peer, lane))) != 0;
    }

    /**
     * Moves the bytes that can move now, and wakes the peer of each link that moved bytes. Returns whether any byte
     * moved.
     */
    boolean poll() {
        boolean any = false;
        for (int i = count - 1; i >= 0; i--) {
            IntraNodeLink link = active[i];
            if (link.move()) {
                any = true;
                sleepers.wake(link.peer);
            }
            if (!link.busy()) {
                link.isActive = false;
                active[i] = active[--count];
                active[count] = null;
            }
        }
        return any;
    }

    /** Drops all links. Publishes in this rank's segment that this rank is gone, and wakes all peers. Idempotent. */
    void drop() {
        if (dropped) {
            return;
        }
        dropped = true;
        Arrays.fill(active, null);
        count = 0;
        for (IntraNodeLink[] lane : links) {
            for (IntraNodeLink link : lane) {
                if (link != null) {
                    link.drop();
                }
            }
        }
        ProgressCounters.publish(areas[rank], layout.gone(), 1);
        for (int peer = 0; peer < areas.length; peer++) {
            if (peer != rank && reaches(peer)) {
                sleepers.wake(peer);
            }
        }
    }

    /**
     * One lane to one rank of the same host. Sends use a ring in the peer's segment, and receives use a ring in this
     * rank's segment. Used by the thread that makes progress.
     */
    final class IntraNodeLink implements Link {
        private final int peer;
        private final Lane lane;
        private final ByteRingEnd outgoing;
        private final ByteRingEnd incoming;
        /** Whether the link is in the list of links to poll. */
        private boolean isActive;
        /** Whether this link moves no more bytes and reports no more events. Later posts are ignored. */
        private boolean dead = dropped;

        private IntraNodeLink(int peer, Lane lane) {
            int bytes = layout.ringBytes();
            TypedViews there = new TypedViews(areas[peer]);
            this.peer = peer;
            this.lane = lane;
            this.outgoing = new ByteRingEnd(true, areas[peer], there, layout.ring(peer, rank, lane), bytes);
            this.incoming = new ByteRingEnd(false, areas[rank], incomingElements, layout.ring(rank, peer, lane), bytes);
        }

        @Override
        public void send(CallHeader call, HostTensor data, long from, long elements) {
            if (!dead) {
                outgoing.posts().add(call, data, from, elements);
                activate();
            }
        }

        @Override
        public void receive(CallHeader call, HostTensor into, long from, long elements) {
            if (!dead) {
                incoming.posts().add(call, into, from, elements);
                activate();
            }
        }

        @Override
        public void receiveCombine(CallHeader call, HostTensor into, long from, long elements, ReduceOp op) {
            if (!dead) {
                incoming.posts().add(call, into, from, elements, kernels.of(into.dataType(), op));
                activate();
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

        private void activate() {
            if (isActive) {
                return;
            }
            isActive = true;
            if (count == active.length) {
                active = Arrays.copyOf(active, count * 2);
            }
            active[count++] = this;
        }

        /** Returns whether a send or a receive is posted. */
        private boolean busy() {
            return !dead && !(outgoing.posts().isEmpty() && incoming.posts().isEmpty());
        }

        /** Moves the bytes that can move now. Returns whether any byte moved. */
        private boolean move() {
            boolean moved = exchange();
            if (!moved && busy() && ProgressCounters.acquire(areas[peer], layout.gone()) != 0) {
                // all writes of the peer before it left are visible now, so this call moves the last of its data
                moved = exchange();
                if (!moved && busy()) {
                    dead = true;
                    events.get().broken(peer, left());
                }
            }
            return moved;
        }

        private boolean exchange() {
            boolean moved = outgoing.move() | incoming.move();
            PostRing receives = incoming.posts();
            if (receives.unexpectedHeader() != null && !dead) {
                dead = true;
                events.get().mismatched(peer, receives.oldest().call(), receives.unexpectedHeader());
            }
            return moved;
        }

        /** Returns the failure of this link if its peer has left while this rank has unfinished posts. */
        private FerroException left() {
            // the number of the collective whose data is missing: 0 for none, -1 on the lane for messages
            long waitedFor = lane == Lane.COLLECTIVE ? incoming.posts().sequence() : -1;
            String message = "rank " + rank + " of \"" + group.name() + "\" lost rank " + peer
                    + ", which has left their shared memory, "
                    + PostRing.progress(incoming.posts(), 0, outgoing.posts()) + "; the output of rank " + peer
                    + " says why";
            Where where = Where.of(group.name(), rank).blaming(peer).during("", waitedFor);
            return new FerroException(Code.PEER_LOST, where, message);
        }

        /** Drops all posts at once. Later posts are ignored. */
        private void drop() {
            dead = true;
            outgoing.posts().clear();
            incoming.posts().clear();
        }
    }
}
