/**
 * Connections until their purpose is known: addresses, the secret, dialling, listening, the handshake and TLS 1.3
 * between two processes of a job.
 *
 * <p>Start reading at {@code TcpListener} and {@code TcpDialer}; {@code Hello} has the purpose of a connection. For
 * TLS, start at {@code TlsIdentity} and {@code TlsSession}, which drives an engine without a socket. The two sides
 * exchange the hashes of their keys in the handshake, which the job's secret protects.
 *
 * <p>Dialling, listening and handshakes run on a background loop. {@code Addresses}, {@code LoopWaits} and
 * {@code TcpDialer.connected} block their caller. The caller also reads settings, secrets and key files.
 * {@code NettyParts} checks the Netty of the class path before any class of Netty is used. {@code NettyParts} refers to
 * classes of Netty by name only, because an import would load them.
 */
package ferro.backend.tcp.net;
