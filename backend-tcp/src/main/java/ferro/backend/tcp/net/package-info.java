/**
 * Connections up to the point where their purpose is known: addresses, the secret, dialling, listening, the handshake and
 * TLS 1.3 between two processes of a job.
 *
 * <p>Start reading at {@code TcpListener} and {@code TcpDialer}; {@code Hello} says what a connection is for. Dialling,
 * listening and handshakes run on a background loop. {@code Addresses}, {@code Waits} and {@code TcpDialer.connected} block
 * their caller; settings, secrets and key files are read by the caller too. For TLS start at
 * {@code TlsIdentity}, then {@code TlsSession}, which drives an engine over arrays and knows no socket; the handshake agrees
 * who has which key, under the job's secret. {@code NettyParts} checks the Netty of the class path before a class of it is
 * used; it refers to these only by name, since an import would load them.
 */
package ferro.backend.tcp.net;
