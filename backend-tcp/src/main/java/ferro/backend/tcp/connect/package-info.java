/**
 * Connections up to the point where their purpose is known: addresses, the secret, dialling, listening and the handshake.
 *
 * <p>Start reading at {@code TcpListener} and {@code TcpDialer}; {@code Hello} says what a connection is for. All of it
 * runs on a background loop, except {@code Addresses} and {@code Waits}, which block their caller.
 */
package ferro.backend.tcp.connect;
