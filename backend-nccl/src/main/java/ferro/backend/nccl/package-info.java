/**
 * NCCL for the JVM: communicators, streams and device memory, with deadlines and abort.
 *
 * <p>Start at {@link ferro.backend.nccl.NcclWorld}, then {@link ferro.backend.nccl.JnaNcclBackend}. An operation is a
 * job in the {@code WorkQueue}. The {@code DeviceThread} makes it, and the {@code Watchdog} ends it if it does not end
 * by itself. {@link ferro.backend.nccl.NcclComms} and {@link ferro.backend.nccl.NcclRankComm} are communicators without
 * a queue. Native calls are in the {@code ffi} package.
 *
 * <p>Operations of a communicator are enqueued on the thread that it owns. Aborts, and polls of the communicator and of
 * streams, come from other threads too.
 */
package ferro.backend.nccl;
