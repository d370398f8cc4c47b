/**
 * Everything that knows sockets: the one port of a rank, the handshake, the store, the mesh of control connections and
 * the data links that the engine drives.
 *
 * <p>Start reading at {@code TcpBackendProvider}; the mesh ({@code TcpMesh}) says how ranks find each other, the
 * transport how elements move. What travels is written down in docs/wire-protocol.md.
 *
 * <p>Two kinds of loop live here. The background loop of {@code TcpPort} always runs and owns all that liveness needs:
 * accepting, handshakes, store, control connections; nothing on it may block. Data links sit on a loop that the caller
 * drives; nothing that must happen by itself may be put there. Netty never appears in a public signature.
 */
package ferro.backend.tcp;
