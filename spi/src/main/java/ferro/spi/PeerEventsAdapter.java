package ferro.spi;

import ferro.FerroException;
import java.nio.ByteBuffer;

/**
 * The events of a transport for a receiver that uses no data links.
 *
 * @param receiver receiver of losses and control messages
 */
record PeerEventsAdapter(ControlLane.PeerEvents receiver) implements Transport.Events {
    @Override
    public void cutOff(int peer, FerroException cause) {
        receiver.cutOff(peer, cause);
    }

    @Override
    public void closed(int peer, FerroException cause) {
        receiver.closed(peer, cause);
    }

    @Override
    public void lost(int peer, FerroException cause) {
        receiver.lost(peer, cause);
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        receiver.control(peer, message);
    }

    @Override
    public void broken(int peer, FerroException cause) {
        // the receiver moves no data
    }

    @Override
    public void mismatched(int peer, CallHeader expected, CallHeader found) {
        // the receiver moves no data
    }
}
