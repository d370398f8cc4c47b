/**
 * The store, a small map that rank 0 or a launcher serves to all ranks of a job, and how ranks find each other's port: by a
 * store at a known address, or by a file of rank 0.
 *
 * <p>Start reading at {@code StoreService}, which serves it, and {@code TcpStore}, which asks it. Launchers of several nodes
 * connect by {@code LauncherStore}. A rank joins by its one port: {@code TcpPort}, then {@code StoreOpening}. The result is
 * the {@code Roster}: where each rank listens, and its machine. {@code JoinState} lists what a rank waits for meanwhile, with
 * the text of each state, and {@code JoinProgress} prints these texts. {@code StoreDialling} logs one warning of its own: that
 * loopback is down.
 */
package ferro.backend.tcp.store;
