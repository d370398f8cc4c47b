/**
 * Data links: elements between tensors and sockets, moved by the thread that makes progress for the group.
 *
 * <p>Start reading at {@code TcpLink}; {@code PolledLinks} polls those of a group, {@code PolledLoop} waits for their sockets.
 * Nothing here runs on the background loop, and nothing that must happen by itself may be put here.
 */
package ferro.backend.tcp.link;
