/**
 * The types that all modules share, such as back ends, calls, tensors and failures.
 *
 * <p>Users of ferro start at {@code ferro.group.ProcessGroup}. From this package, users need {@link ferro.HostTensor},
 * {@link ferro.ReduceOp}, {@link ferro.Work} and {@link ferro.FerroException}. Implementers of a back end start at
 * {@link ferro.Backend}, then {@link ferro.Collective}, {@link ferro.Message} and {@link ferro.CallOptions}. {@link
 * ferro.TensorMemory} gives access to the memory of host tensors.
 *
 * <p>Nothing in this package opens a socket, starts a thread or reads the environment.
 */
package ferro;
