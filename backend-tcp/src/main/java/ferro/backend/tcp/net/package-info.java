/**
 * New connections between two processes of a job: addresses, the secret, dialling, listening, the handshake and TLS
 * 1.3. Other packages use the connections.
 *
 * <p>Start reading at {@code TcpListener} and {@code TcpDialer}; {@code Hello} says what a connection is for. For TLS,
 * start at {@code TlsIdentity} and {@code TlsSession}, which drives an engine without a socket. The job's secret
 * protects the handshake, in which the two sides exchange the hashes of their TLS keys.
 *
 * <p>Dialling, listening and handshakes run on a background loop. {@code AddressLookup}, {@code LoopWaiter} and {@code
 * TcpDialer.connected} block their caller. Settings, secrets and key files are also read on the caller's thread. {@code
 * NettyModules} checks the Netty of the class path before any class of Netty is used. {@code NettyModules} refers to
 * classes of Netty by name only, because an import would load these classes.
 */
package ferro.backend.tcp.net;
