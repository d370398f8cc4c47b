package ferro.backend.tcp.mesh;

import java.net.InetSocketAddress;
import java.util.List;

/**
 * The data that a peer has published about itself in the store.
 *
 * @param addresses addresses of the peer's published host, in the order to try
 * @param home      machine of the peer, for messages
 * @param sameHost  whether the peer's machine has the same name as the machine of this rank
 */
record PeerRecord(List<InetSocketAddress> addresses, String home, boolean sameHost) {}
