/**
 * The order of operations and how they end: the thread that makes native calls, the queue of operations, the one
 * failure of a group and its records in the store.
 *
 * <p>Start at {@code DeviceThread}, the queue of native calls of one communicator. {@code WorkQueue} is the queue of
 * operations: each is a {@code NcclWork} around a {@code NcclJob}. {@code FirstFailure} ends a group,
 * {@code Watchdog} ends an operation that does not end by itself, and {@code FailureRecords} tells the other ranks.
 *
 * <p>Nothing here knows what an operation does: native calls of NCCL are in {@code comm}.
 */
package ferro.backend.nccl.queue;
