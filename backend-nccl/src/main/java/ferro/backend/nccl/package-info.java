/**
 * NCCL for the JVM: communicators, streams and device memory, with deadlines and abort.
 *
 * <p>Start at {@link ferro.backend.nccl.NcclWorld}, then {@link ferro.backend.nccl.JnaNcclBackend}: an operation is a job in
 * the {@code WorkQueue}, made by the {@code DeviceThread}, ended by the {@code Watchdog} where it does not end by itself.
 * {@link ferro.backend.nccl.NcclComms} and {@link ferro.backend.nccl.NcclRankComm} are communicators without a queue. Native
 * calls live in the {@code ffi} package.
 *
 * <p>No native call is made outside the thread that its communicator owns, except abort and the questions of the watchdog.
 */
package ferro.backend.nccl;
