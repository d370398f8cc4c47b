/**
 * The public part of the TCP back end, which {@code -Dferro.backend=tcp} chooses. The rest is in the packages below. Each
 * of them uses only those listed before it: {@code net} (which Netty the class path has; dial, listen, handshake, TLS),
 * {@code store} (the map that all ranks share, and how ranks find each other) and {@code mesh} (control connections);
 * {@code link} (data links) stands beside them.
 *
 * <p>Start reading at {@code TcpBackendProvider}. The mesh ({@code TcpMesh}) shows how ranks find each other, the
 * transport how elements move. The wire format is in docs/wire-protocol.md.
 *
 * <p>There are two kinds of loop. The background loop of {@code TcpPort} always runs and owns all that liveness needs:
 * accepting, handshakes, store, control connections. Nothing on it may block. Data links are on a loop that the progress
 * engine polls. Nothing that must happen without a progress thread may be put there. Netty never appears in a public
 * signature.
 */
package ferro.backend.tcp;
