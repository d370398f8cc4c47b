package ferro.collectives.engine;

import ferro.spi.Link;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/** The links to all peers for one kind of lane, with counters of each link's posts. A link is opened on first use. */
final class PeerLinks {
    private final Transport transport;
    private final Lane kind;
    /** Links by peer; empty until the first link is opened. */
    private CountedLink[] byPeer = new CountedLink[0];

    private CountedLink[] opened = new CountedLink[0];

    /**
     * A link and the numbers of its posts since the link was made. The link has no pending post when the object is
     * created.
     */
    static final class CountedLink {
        final Link link;
        long sendsPosted;
        long receivesPosted;
        /** Number of sends that have a position in the order of the link, whether posted or not. */
        long sendPlaces;

        long receivePlaces;

        CountedLink(Link link) {
            this.link = link;
            this.sendsPosted = link.sent();
            this.receivesPosted = link.received();
            this.sendPlaces = sendsPosted;
            this.receivePlaces = receivesPosted;
        }
    }

    PeerLinks(Transport transport, Lane kind) {
        this.transport = transport;
        this.kind = kind;
    }

    CountedLink to(int peer) {
        CountedLink counted = peer < byPeer.length ? byPeer[peer] : null;
        if (counted == null) {
            if (byPeer.length == 0) {
                byPeer = new CountedLink[transport.worldSize()];
            }
            counted = new CountedLink(transport.link(peer, kind));
            byPeer[peer] = counted;
            opened = Arrays.copyOf(opened, opened.length + 1);
            opened[opened.length - 1] = counted;
        }
        return counted;
    }

    /**
     * Replaces the links to peers for which the transport now has a better link. No transfer may be in flight. Receives
     * that are still posted on a replaced link never get a message. Returns the peers whose link has changed.
     */
    BitSet reopen() {
        BitSet changed = new BitSet();
        for (int peer = 0; peer < byPeer.length; peer++) {
            CountedLink counted = byPeer[peer];
            if (counted != null && transport.link(peer, kind) != counted.link) {
                counted.link.retire();
                byPeer[peer] = null;
                changed.set(peer);
            }
        }
        List<CountedLink> open = new ArrayList<>();
        for (CountedLink counted : byPeer) {
            if (counted != null) {
                open.add(counted);
            }
        }
        opened = open.toArray(new CountedLink[0]);
        return changed;
    }

    boolean isAlone() {
        return transport.worldSize() == 1;
    }

    /** Returns the number of bytes that all links have moved, including unfinished posts. Allocates nothing. */
    long bytesMoved() {
        long bytes = 0;
        for (CountedLink counted : opened) {
            bytes += counted.link.bytesMoved();
        }
        return bytes;
    }
}
