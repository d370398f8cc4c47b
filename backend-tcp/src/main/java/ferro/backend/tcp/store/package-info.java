/**
 * The store and the rendezvous of a job. The store is a small map that rank 0 or a launcher serves to all ranks. Ranks
 * find each other's ports through a store at a known address, or through a store that a file of rank 0 names.
 *
 * <p>Start reading at {@code StoreService}, the server, and {@code TcpStore}, the client. Launchers of several nodes
 * use {@code LauncherClient}. For the join of a rank, read {@code TcpPort}, then {@code StoreConnector}. The {@code
 * Roster} has the address and the host of each rank. {@code JoinState} lists what a joining rank can wait for, with a
 * text for each state, and {@code JoinProgress} prints these texts. If loopback is down, {@code StoreDialer} logs a
 * warning.
 */
package ferro.backend.tcp.store;
