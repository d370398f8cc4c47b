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

/** The near links of one rank of one group, moved by whoever drives: those with posts are asked in turn. */
final class NearLinks {
    private final int rank;
    private final RingLayout layout;
    private final ByteBuffer[] areas;
    private final Sleepers sleepers;
    private final Events events;
    /** Rings lie in the area of who receives, so that one set of views and kernels serves all that comes. */
    private final StagedElements incoming;

    private final KeptKernels kernels = new KeptKernels();
    private final NearLink[][] links;
    private NearLink[] active = new NearLink[8];
    private int count;
    private boolean dropped;

    /** Hears what ends a link; called by whoever drives. */
    interface Events {
        /** The peer has left with something posted here: data of that collective, 0 for none, -1 for messages. */
        void broken(int peer, long sequence, String progress);

        /** Another header came than was posted. */
        void mismatched(int peer, CallHeader expected, CallHeader found);
    }

    /**
     * Makes the links of a rank.
     *
     * @param areas of each rank that is near, this one among them; null for the others
     */
    NearLinks(int rank, RingLayout layout, ByteBuffer[] areas, Sleepers sleepers, Events events) {
        this.rank = rank;
        this.layout = layout;
        this.areas = areas;
        this.sleepers = sleepers;
        this.events = events;
        this.incoming = new StagedElements(areas[rank]);
        this.links = new NearLink[Lane.values().length][areas.length];
    }

    /** Returns the areas of the ranks that can be reached. */
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

    NearLink link(int peer, Lane lane) {
        NearLink known = links[lane.ordinal()][peer];
        if (known == null) {
            known = made(peer, lane);
            links[lane.ordinal()][peer] = known;
        }
        return known;
    }

    /** Returns whether something lies in the ring from a peer, and nothing is posted for it here. */
    boolean knocks(int peer, Lane lane) {
        NearLink known = links[lane.ordinal()][peer];
        if (known != null) {
            return known.knocks();
        }
        return !dropped && Words.acquire(areas[rank], RingLayout.put(layout.ring(rank, peer, lane))) != 0;
    }

    private NearLink made(int peer, Lane lane) {
        int bytes = layout.ringBytes();
        StagedElements there = new StagedElements(areas[peer]);
        NearLink link = new NearLink(
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

    Events events() {
        return events;
    }

    boolean isGone(int peer) {
        return Words.acquire(areas[peer], layout.gone()) != 0;
    }

    /** Returns the kernel that combines for these links, one at a time. */
    Kernel kernel(DataType type, ReduceOp op) {
        return kernels.of(type, op);
    }

    /** Notes that a link has something to do. */
    void activate(NearLink link) {
        if (link.active()) {
            return;
        }
        link.active(true);
        if (count == active.length) {
            active = Arrays.copyOf(active, count * 2);
        }
        active[count++] = link;
    }

    /** Moves what can be moved now, and wakes peers that sleep; returns whether anything moved. */
    boolean poll() {
        boolean any = false;
        for (int i = count - 1; i >= 0; i--) {
            NearLink link = active[i];
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

    /** Drops all links, and tells those at their other ends; idempotent. */
    void drop() {
        if (dropped) {
            return;
        }
        dropped = true;
        Arrays.fill(active, null);
        count = 0;
        for (NearLink[] lane : links) {
            for (NearLink link : lane) {
                if (link != null) {
                    link.drop();
                }
            }
        }
        Words.publish(areas[rank], layout.gone(), 1);
        for (int peer = 0; peer < areas.length; peer++) {
            if (peer != rank && reaches(peer)) {
                sleepers.wake(peer);
            }
        }
    }
}
