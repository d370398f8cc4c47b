package ferro.collectives.shared;

import ferro.DataType;
import ferro.ReduceOp;
import ferro.collectives.link.StagedElements;
import ferro.collectives.reduce.KeptKernels;
import ferro.collectives.reduce.Kernel;
import ferro.spi.CallHeader;
import ferro.spi.SharedMemory;
import ferro.spi.Transport.Lane;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** The intra-node links of one rank of one group. The thread that makes progress polls the links that have posts. */
final class IntraNodeLinks {
    private final int rank;
    private final RingLayout layout;
    private final ByteBuffer[] areas;
    private final Sleepers sleepers;
    private final RingEvents events;
    /** Rings lie in the segment of the receiver, so that one set of views and kernels serves all data that comes. */
    private final StagedElements incoming;

    private final KeptKernels kernels;
    private final IntraNodeLink[][] links;
    private IntraNodeLink[] active = new IntraNodeLink[8];
    private int count;
    private boolean dropped;

    /** Receives the events that end a link; called by the thread that makes progress. */
    interface RingEvents {
        /** The peer has left while a post was open here: data of that collective, 0 for none, -1 for messages. */
        void broken(int peer, long sequence, String progress);

        /** The header that came is not the header that was posted. */
        void mismatched(int peer, CallHeader expected, CallHeader found);
    }

    /**
     * Makes the links of a rank.
     *
     * @param areas segments of the ranks of the same host, this one among them; null for the others
     */
    IntraNodeLinks(int rank, RingLayout layout, ByteBuffer[] areas, Sleepers sleepers, RingEvents events) {
        this.rank = rank;
        this.layout = layout;
        this.areas = areas;
        this.sleepers = sleepers;
        this.events = events;
        this.incoming = new StagedElements(areas[rank]);
        this.kernels = new KeptKernels(areas.length);
        this.links = new IntraNodeLink[Lane.values().length][areas.length];
    }

    /** Returns the segments of the ranks that can be reached. */
    static ByteBuffer[] areas(SharedMemory memory, boolean[] near) {
        ByteBuffer[] areas = new ByteBuffer[near.length];
        for (int peer = 0; peer < near.length; peer++) {
            areas[peer] = near[peer] ? memory.area(peer) : null;
        }
        return areas;
    }

    boolean reaches(int peer) {
        return areas[peer] != null;
    }

    boolean hasRing(int peer) {
        return layout.hasRings() && reaches(peer);
    }

    IntraNodeLink link(int peer, Lane lane) {
        IntraNodeLink known = links[lane.ordinal()][peer];
        if (known == null) {
            known = made(peer, lane);
            links[lane.ordinal()][peer] = known;
        }
        return known;
    }

    /** Returns whether the ring from a peer holds data for which nothing is posted here. */
    boolean hasUnexpected(int peer, Lane lane) {
        IntraNodeLink known = links[lane.ordinal()][peer];
        if (known != null) {
            return known.hasUnexpected();
        }
        return !dropped && ProgressWords.acquire(areas[rank], RingLayout.put(layout.ring(rank, peer, lane))) != 0;
    }

    private IntraNodeLink made(int peer, Lane lane) {
        int bytes = layout.ringBytes();
        StagedElements there = new StagedElements(areas[peer]);
        IntraNodeLink link = new IntraNodeLink(
                this,
                peer,
                lane,
                new RingWriter(areas[peer], there, layout.ring(peer, rank, lane), bytes),
                new RingReader(areas[rank], incoming, layout.ring(rank, peer, lane), bytes));
        if (dropped) {
            link.drop();
        }
        return link;
    }

    RingEvents events() {
        return events;
    }

    boolean isGone(int peer) {
        return ProgressWords.acquire(areas[peer], layout.gone()) != 0;
    }

    /** Returns the kernel that combines for these links; one thread at a time uses it. */
    Kernel kernel(DataType type, ReduceOp op) {
        return kernels.of(type, op);
    }

    /** Notes that a link has work. */
    void activate(IntraNodeLink link) {
        if (link.active()) {
            return;
        }
        link.active(true);
        if (count == active.length) {
            active = Arrays.copyOf(active, count * 2);
        }
        active[count++] = link;
    }

    /** Moves what can be moved now, and wakes sleeping peers; returns whether anything moved. */
    boolean poll() {
        boolean any = false;
        for (int i = count - 1; i >= 0; i--) {
            IntraNodeLink link = active[i];
            if (link.move()) {
                any = true;
                sleepers.wake(link.peer());
            }
            if (!link.busy()) {
                retire(i);
            }
        }
        return any;
    }

    private void retire(int i) {
        active[i].active(false);
        active[i] = active[--count];
        active[count] = null;
    }

    /** Drops all links, and tells the peers; idempotent. */
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
        ProgressWords.publish(areas[rank], layout.gone(), 1);
        for (int peer = 0; peer < areas.length; peer++) {
            if (peer != rank && reaches(peer)) {
                sleepers.wake(peer);
            }
        }
    }
}
