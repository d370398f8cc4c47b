/**
 * The queue of operations, the thread that makes native calls, and the failure of a group, which ends its operations.
 *
 * <p>Start reading at {@code DeviceThread}, the queue of native calls of one communicator. {@code WorkQueue} is the
 * queue of operations: each operation is a {@code NcclWork} around a {@code NativeOperation}. {@code GroupFailureState}
 * ends a group. {@code Watchdog} ends an operation that does not end by itself. {@code ControlMessenger} connects the
 * group to {@link ferro.control.group.GroupControl}, which decides failures for all back ends.
 *
 * <p>This package does not depend on the kinds of operations. The native calls of the operations are in package {@code
 * comm}.
 */
package ferro.backend.nccl.queue;
