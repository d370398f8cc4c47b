/**
 * The C functions of NCCL and of the CUDA or HIP runtime, with one method for each function, in the order of the
 * headers.
 *
 * <p>Start reading at {@code LibraryLoader}, which loads the libraries, then {@code Nccl} and {@code Cuda}.
 * {@code ResultChecker} turns result codes into exceptions. Every result code is checked once. An out-parameter is read
 * only after a successful call.
 *
 * <p>The module exports this package to JNA only. The package has no threads, no deadlines, and no state except which
 * libraries this process has loaded.
 */
package ferro.backend.nccl.ffi;
