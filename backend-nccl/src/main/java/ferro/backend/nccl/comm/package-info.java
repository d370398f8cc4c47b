/**
 * NCCL for the JVM: groups and communicators, with deadlines and abort.
 *
 * <p>Start reading at {@link ferro.backend.nccl.comm.NcclWorld}, then {@link ferro.backend.nccl.comm.JnaNcclBackend}.
 * An operation is a job in the {@code WorkQueue}. {@link ferro.backend.nccl.comm.NcclComms} and
 * {@link ferro.backend.nccl.comm.NcclRankComm} are communicators without a queue. Each of these classes uses one
 * {@code Communicator}, whose {@code DeviceThread} makes the native calls of {@code NativeCaller}.
 *
 * <p>The operations of a communicator are enqueued on one thread, which belongs to the communicator. Other threads can
 * also abort the communicator, and poll the communicator and its streams.
 */
package ferro.backend.nccl.comm;
