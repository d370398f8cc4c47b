/**
 * NCCL for the JVM: groups and communicators, with deadlines and abort.
 *
 * <p>Start at {@link ferro.backend.nccl.comm.NcclWorld}, then {@link ferro.backend.nccl.comm.JnaNcclBackend}. An
 * operation is a job in the {@code WorkQueue}. {@link ferro.backend.nccl.comm.NcclComms} and
 * {@link ferro.backend.nccl.comm.NcclRankComm} are communicators without a queue. All of them are made of one
 * {@code Communicator}, whose {@code DeviceThread} makes the native calls, and {@code CollectiveCalls} has these calls.
 *
 * <p>Operations of a communicator are enqueued on the thread that it owns. Aborts, and polls of the communicator and of
 * streams, come from other threads too.
 */
package ferro.backend.nccl.comm;
