/**
 * TLS 1.3 between two processes of a job, without sockets: the key of this process, the one key that the other side must
 * have, and the records of a connection.
 *
 * <p>Start reading at {@code TlsIdentity}, then {@code TlsSession}, which drives an engine over arrays. Who has which key is
 * agreed in the handshake of package {@code connect}, under the job's secret.
 *
 * <p>Nothing here waits, starts a thread or reads the environment.
 */
package ferro.backend.tcp.tls;
