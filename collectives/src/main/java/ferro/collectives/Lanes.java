package ferro.collectives;

import ferro.spi.Link;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;

/** The links of one lane kind, opened on first use, and how much was posted on each. */
final class Lanes {
    private final Transport transport;
    private final Lane kind;
    private final Channel[] channels;
    private Channel[] opened = new Channel[0];

    /** A link and its counts of posts since it was made; nothing may be pending on it when this is made. */
    static final class Channel {
        final Link link;
        long sendsPosted;
        long receivesPosted;
        /** Posts that have a place in the order of the link, posted or still to be. */
        long sendPlaces;

        long receivePlaces;

        Channel(Link link) {
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
        this.channels = new Channel[transport.worldSize()];
    }

    Channel to(int peer) {
        Channel channel = channels[peer];
        if (channel == null) {
            channel = new Channel(transport.link(peer, kind));
            channels[peer] = channel;
            opened = Arrays.copyOf(opened, opened.length + 1);
            opened[opened.length - 1] = channel;
        }
        return channel;
    }

    /**
     * Asks for links anew: the medium may have better ones for some peers now. Nothing is under way; what the old ones only
     * wait for never comes.
     *
     * @return peers that have another link
     */
    BitSet reopen() {
        BitSet changed = new BitSet();
        for (int peer = 0; peer < channels.length; peer++) {
            Channel channel = channels[peer];
            if (channel != null && transport.link(peer, kind) != channel.link) {
                channel.link.retire();
                channels[peer] = null;
                changed.set(peer);
            }
        }
        opened = Arrays.stream(channels).filter(Objects::nonNull).toArray(Channel[]::new);
        return changed;
    }

    /** Returns whether there is nobody to have a link to. */
    boolean isAlone() {
        return channels.length == 1;
    }

    /** Returns the bytes that all of them have moved, unfinished posts included; allocates nothing. */
    long bytesMoved() {
        long bytes = 0;
        for (Channel channel : opened) {
            bytes += channel.link.bytesMoved();
        }
        return bytes;
    }
}
