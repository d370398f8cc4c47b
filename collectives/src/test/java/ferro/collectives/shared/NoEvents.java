package ferro.collectives.shared;

import ferro.FerroException;
import ferro.spi.CallHeader;
import ferro.spi.Transport;
import java.nio.ByteBuffer;

/** For tests in which nothing may be told. */
record NoEvents(int rank) implements Transport.Events {
    static void on(Transport... ends) {
        for (Transport end : ends) {
            end.events(new NoEvents(end.rank()));
        }
    }

    @Override
    public void lost(int peer, FerroException cause) {
        throw new IllegalStateException("rank " + rank + " lost rank " + peer, cause);
    }

    @Override
    public void broken(int peer, FerroException cause) {
        throw new IllegalStateException("rank " + rank + " has no link to rank " + peer, cause);
    }

    @Override
    public void mismatched(int peer, CallHeader expected, CallHeader found) {
        throw new IllegalStateException(
                "rank " + rank + " expected " + expected + " of rank " + peer + ", not " + found);
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        throw new IllegalStateException("rank " + rank + " was told " + message + " by rank " + peer);
    }
}
