/**
 * The order of operations and how they end: the thread that makes native calls, the queue of operations, and the
 * failure of a group.
 *
 * <p>Start at {@code DeviceThread}, the queue of native calls of one communicator. {@code WorkQueue} is the queue of
 * operations: each is a {@code NcclWork} around a {@code NcclJob}. {@code FirstFailure} ends a group,
 * {@code Watchdog} ends an operation that does not end by itself, and {@code CommControl} connects the group with what
 * decides failures for all back ends, {@link ferro.control.group.GroupControl}.
 *
 * <p>Nothing here knows what an operation does: native calls of NCCL are in {@code comm}.
 */
package ferro.backend.nccl.queue;
