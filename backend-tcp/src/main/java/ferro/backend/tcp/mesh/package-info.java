/**
 * The control connections between every two ranks of a group, and the data connections that are made on request over them.
 *
 * <p>Start reading at {@code TcpMesh}; {@code TcpJoin} makes it. Everything runs on the background loop, except the waits of a
 * join and of a flush, which are their caller's. Nothing here reads or writes elements.
 */
package ferro.backend.tcp.mesh;
