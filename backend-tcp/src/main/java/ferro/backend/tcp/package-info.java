/**
 * The public part of the TCP back end, which {@code -Dferro.backend=tcp} selects. Package {@code net} checks the
 * version of Netty on the class path. It also dials, listens, and does handshakes and TLS. Package {@code store} has
 * the map that all ranks share, and in which ranks publish their addresses. Package {@code mesh} has the control
 * connections. Package {@code net} uses neither {@code store} nor {@code mesh}, and {@code store} does not use {@code
 * mesh}. Package {@code link} has the data links. The packages {@code net}, {@code store} and {@code mesh} do not
 * depend on {@code link}.
 *
 * <p>Start reading at {@code TcpBackendProvider}. {@code TcpMesh} shows how ranks find each other, {@code TcpTransport}
 * how elements move. The wire format is in docs/wire-protocol.md.
 *
 * <p>A rank has two kinds of loop. The background loop of {@code TcpPort} always runs and must never block. The
 * background loop accepts connections, does handshakes, and serves the store and the control connections. The progress
 * engine polls the second loop, which has the data links. Work that must continue while no thread makes progress may
 * not run on this second loop. Netty never appears in a public signature.
 */
package ferro.backend.tcp;
