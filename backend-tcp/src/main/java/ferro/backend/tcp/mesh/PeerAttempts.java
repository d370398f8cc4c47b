package ferro.backend.tcp.mesh;

import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.ConnectAttempts;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.net.RoundTripTimes;
import ferro.backend.tcp.net.TlsPolicy;
import ferro.backend.tcp.store.TcpPort;
import ferro.spi.GroupSpec;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The attempts to open the control connections of a group, for messages to users. This rank dials the higher ranks, and
 * the lower ranks dial this rank. Thread-safe.
 */
final class PeerAttempts {
    private final TcpPort port;
    /** The attempts of this rank to connect to each peer; null for a peer that connects to this rank. */
    private final ConnectAttempts[] notes;
    /** By peer, a text about the last refused connection that claimed to come from the peer. */
    private final AtomicReferenceArray<String> refusals;
    /** The time when this rank had the addresses of all peers. Before this time, no peer was expected to connect. */
    private volatile long knownNanos;

    PeerAttempts(GroupSpec spec, TcpPort port) {
        this.port = port;
        notes = new ConnectAttempts[spec.worldSize()];
        for (int peer = spec.rank() + 1; peer < notes.length; peer++) {
            notes[peer] = new ConnectAttempts(port::now);
        }
        refusals = new AtomicReferenceArray<>(spec.worldSize());
        knownNanos = port.now();
    }

    /** Records that the addresses of all peers are known, so that peers may connect. */
    void known() {
        knownNanos = port.now();
    }

    /** Returns the attempts to dial a higher rank. */
    ConnectAttempts notes(int peer) {
        return notes[peer];
    }

    /** Returns the median round trip time to the higher ranks, in microseconds. */
    int middleMicros() {
        return RoundTripTimes.middleMicros(notes);
    }

    /** Records that this rank has refused a connection that claimed to come from a lower rank. */
    void refused(int peer, InetSocketAddress from, Refusal refusal) {
        String address = from.getAddress().getHostAddress();
        refusals.set(peer, "a connection in its name from " + address + " was refused: " + refusal.getMessage());
    }

    /** Describes a peer that is not ready; {@code connected} is true if its control connection exists. */
    UnconnectedRank unconnected(int peer, PeerRecord record, boolean connected) {
        String address = AddressLookup.text(record.addresses());
        if (connected) {
            return new UnconnectedRank(peer, record.home(), address, UnconnectedRank.WAITING, 0, true);
        }
        boolean own = record.addresses().stream().anyMatch(to -> TlsPolicy.isOwn(to.getAddress()));
        boolean sameMachine = own && record.sameHost();
        ConnectAttempts tried = notes[peer];
        if (tried != null) {
            // if a peer on another host has published an address that this host also has, the address leads to this
            // host
            boolean reached = sameMachine || !own && tried.hasConnected();
            return new UnconnectedRank(peer, record.home(), address, tried.last(), tried.attempts(), reached);
        }
        // the store is served at the port of this rank, so the peer has reached this port
        boolean reached = sameMachine || port.servesStore() || refusals.get(peer) != null;
        return new UnconnectedRank(peer, record.home(), address, received(peer, reached), 0, reached);
    }

    private String received(int peer, boolean reached) {
        String refusal = refusals.get(peer);
        if (refusal != null) {
            return refusal;
        }
        String seen = "no connection from there has reached this rank at "
                + AddressLookup.text(port.advertised(), port.bound().getPort());
        if (port.now() - knownNanos < ConnectAttempts.CAUSE_AFTER.toNanos()) {
            return seen;
        }
        return seen
                + (reached ? ": is that rank stopped or without a free core?" : ": does a firewall block connections?");
    }
}
