/**
 * The devices of this host: whether NCCL can use them, and their streams. For programs that use ferro.
 *
 * <p>Start at {@link ferro.backend.nccl.device.NcclAvailability}, then {@link ferro.backend.nccl.device.CudaStream}.
 *
 * <p>Nothing in this package starts a thread or changes the current device of the calling thread.
 */
package ferro.backend.nccl.device;
