/**
 * The control connections between every two ranks of a group, and the data connections. Ranks request a data connection
 * over a control connection.
 *
 * <p>Start reading at {@code TcpMesh}, which {@code TcpJoin} creates. All code runs on the background loop, except the
 * waits of a join and of a flush, which block their caller. This package neither reads nor writes elements.
 */
package ferro.backend.tcp.mesh;
