/**
 * NCCL for the JVM: communicators, streams and device memory, with deadlines and abort.
 *
 * <p>Start at the provider, then the back end it makes. Native calls live in the {@code ffi} package.
 *
 * <p>No native call is made outside the thread that its communicator owns, except abort and the questions of the watchdog.
 */
package ferro.backend.nccl;
