/**
 * Data links, which move elements between tensors and sockets on the thread that makes progress for the group.
 *
 * <p>Start reading at {@code TcpLink}. {@code PolledLinks} polls the links of a group, {@code PolledLoop} waits for
 * sockets. No code of this package runs on the background loop. Code that must run without a progress thread belongs in
 * other packages.
 */
package ferro.backend.tcp.link;
