package ferro.backend.tcp;

import ferro.FerroException;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import io.netty.channel.Channel;
import java.nio.ByteBuffer;

/** The other ranks of one joined group: one authenticated control connection each, data connections on demand. */
final class TcpMesh implements AutoCloseable {
    private final GroupSpec spec;
    private final TcpIo io;

    private TcpMesh(GroupSpec spec, TcpIo io) {
        this.spec = spec;
        this.io = io;
    }

    /**
     * Does the whole rendezvous: bind, store, announce, wait, connect; returns when every control connection is up.
     *
     * @throws FerroException RENDEZVOUS, PROTOCOL, UNAUTHENTICATED or INTERRUPTED, by the one deadline of the spec
     */
    static TcpMesh join(GroupSpec group, RankContext context) {
        throw new UnsupportedOperationException("under construction: " + group + context);
    }

    int rank() {
        return spec.rank();
    }

    int worldSize() {
        return spec.worldSize();
    }

    GroupSpec spec() {
        return spec;
    }

    TcpIo io() {
        return io;
    }

    /** Sends a control message of at most 4 KiB; copies, never waits, never behind data. */
    void control(int peer, long group, ByteBuffer message) {
        throw new UnsupportedOperationException("under construction: " + peer + group + message);
    }

    /** Names who hears of a group; what came for it earlier is delivered first, on the background loop. */
    void register(long group, Listener listener) {
        throw new UnsupportedOperationException("under construction: " + group + listener);
    }

    void unregister(long group) {
        throw new UnsupportedOperationException("under construction: " + group);
    }

    /**
     * Asks for the data connection of a pair; either side may ask, any number of times; the listeners of both sides get
     * it once per epoch.
     */
    void openData(int peer, long group, Transport.Lane lane, int epoch) {
        throw new UnsupportedOperationException("under construction: " + peer + group + lane + epoch);
    }

    /** Counts one more user. */
    void retain() {
        throw new UnsupportedOperationException("under construction: " + spec);
    }

    /** Counts one user less; the last ends the control connections in order and gives the port back. */
    @Override
    public void close() {
        throw new UnsupportedOperationException("under construction: " + spec);
    }

    /** Who hears of one group; called on the background loop, nothing may block. Peers are ranks of the joined group. */
    interface Listener {
        /** A control message came; valid during the call. */
        void control(int peer, ByteBuffer message);

        /** The control connection of a peer has ended; told once per peer and group. */
        void lost(int peer, FerroException cause);

        /**
         * A data connection is there: authenticated, auto-read off, without handlers, deregistered from the background
         * loop, no byte of data read; its allocator is a {@link SwitchedReads}. The listener owns it.
         */
        void data(int peer, Transport.Lane lane, int epoch, Channel channel);

        /** A data connection cannot be made. */
        void noData(int peer, Transport.Lane lane, FerroException cause);
    }
}
