/**
 * The public part of the TCP back end, which {@code -Dferro.backend=tcp} selects. Three packages follow, and each uses
 * only packages that stand before it. {@code net} checks the Netty of the class path, and dials, listens, and does
 * handshakes and TLS. {@code store} has the map that all ranks share, by which ranks find each other. {@code mesh} has
 * the control connections. A fourth package, {@code link}, has the data links; the others do not depend on it.
 *
 * <p>Start reading at {@code TcpBackendProvider}. {@code TcpMesh} shows how ranks find each other, {@code TcpTransport}
 * how elements move. The wire format is in docs/wire-protocol.md.
 *
 * <p>A rank has two kinds of loop. The background loop of {@code TcpPort} always runs and must never block. The
 * background loop does all work that liveness needs: accepting, handshakes, the store and control connections. The
 * progress engine polls the other loop, which has the data links. Work that must happen without a progress thread may
 * not run on that loop. Netty never appears in a public signature.
 */
package ferro.backend.tcp;
