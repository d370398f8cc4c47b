/**
 * The C functions of NCCL and of the CUDA or HIP runtime, one method each, in the order of the headers.
 *
 * <p>Start reading at {@code LibraryLoader}, which loads the libraries, then {@code Nccl} and {@code Cuda}.
 * {@code ResultChecker} turns result codes into exceptions. Every result code is checked once. An out-parameter is read
 * only after a successful call.
 *
 * <p>Exported to JNA only. This package contains no policy: no threads, no deadlines, and no state except which
 * libraries this process has loaded.
 */
package ferro.backend.nccl.ffi;
