/**
 * The C functions of NCCL and of the CUDA or HIP runtime, one method each, in the order of the headers.
 *
 * <p>Start at {@code NativeLibraries}, which loads the libraries, then {@code Nccl} and {@code Cuda}. {@code Checks}
 * turns result codes into exceptions. Every result code goes through one check. An out-parameter is read only after a
 * call that succeeded.
 *
 * <p>Exported to JNA only. This package contains no policy: no threads, no deadlines, no state except which libraries
 * this process has loaded.
 */
package ferro.backend.nccl.ffi;
