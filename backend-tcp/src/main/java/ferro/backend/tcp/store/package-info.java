/**
 * The store: a small map that rank 0, or a launcher, serves to all ranks of a job.
 *
 * <p>Start reading at {@code StoreService}, which serves it, and {@code TcpStore}, which asks it. Launchers of several nodes
 * connect by {@code LauncherStore}.
 */
package ferro.backend.tcp.store;
