/**
 * Connections up to the point where their purpose is known: addresses, the secret, dialling, listening, the handshake and
 * TLS 1.3 between two processes of a job.
 *
 * <p>Start reading at {@code TcpListener} and {@code TcpDialer}; {@code Hello} says what a connection is for. All of it
 * runs on a background loop, except {@code Addresses} and {@code Waits}, which block their caller. For TLS start at
 * {@code TlsIdentity}, then {@code TlsSession}, which drives an engine over arrays and knows no socket; the handshake agrees
 * who has which key, under the job's secret. {@code NettyParts} checks the Netty of the class path before a class of it is
 * used, and refers to these only by name.
 */
package ferro.backend.tcp.net;
