package ferro.collectives.engine;

import ferro.spi.Link;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/** The links of one lane kind, opened on first use, with the number of posts on each. */
final class Lanes {
    private final Transport transport;
    private final Lane kind;
    /** Links by peer; empty until the first one is opened. */
    private CountedLink[] channels = new CountedLink[0];

    private CountedLink[] opened = new CountedLink[0];

    /** A link and its counts of posts since it was made. No post may be pending on the link at that time. */
    static final class CountedLink {
        final Link link;
        long sendsPosted;
        long receivesPosted;
        /** Number of posts that have a position in the order of the link, posted or still to be posted. */
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

    Lanes(Transport transport, Lane kind) {
        this.transport = transport;
        this.kind = kind;
    }

    CountedLink to(int peer) {
        CountedLink channel = peer < channels.length ? channels[peer] : null;
        if (channel == null) {
            if (channels.length == 0) {
                channels = new CountedLink[transport.worldSize()];
            }
            channel = new CountedLink(transport.link(peer, kind));
            channels[peer] = channel;
            opened = Arrays.copyOf(opened, opened.length + 1);
            opened[opened.length - 1] = channel;
        }
        return channel;
    }

    /**
     * Asks the transport for its links again, as it may now have better ones for some peers. No transfer may be under
     * way; what the old links still wait for never comes. Returns the peers that have another link.
     */
    BitSet reopen() {
        BitSet changed = new BitSet();
        for (int peer = 0; peer < channels.length; peer++) {
            CountedLink channel = channels[peer];
            if (channel != null && transport.link(peer, kind) != channel.link) {
                channel.link.retire();
                channels[peer] = null;
                changed.set(peer);
            }
        }
        List<CountedLink> open = new ArrayList<>();
        for (CountedLink channel : channels) {
            if (channel != null) {
                open.add(channel);
            }
        }
        opened = open.toArray(new CountedLink[0]);
        return changed;
    }

    boolean isAlone() {
        return transport.worldSize() == 1;
    }

    /** Returns the bytes that all of them have moved, unfinished posts included; allocates nothing. */
    long bytesMoved() {
        long bytes = 0;
        for (CountedLink channel : opened) {
            bytes += channel.link.bytesMoved();
        }
        return bytes;
    }
}
