/**
 * The C functions of NCCL and of the CUDA or HIP runtime, one method each, in the order of the headers.
 *
 * <p>Exported to JNA only. Every result code goes through one check. An out-parameter is read only after a call that
 * succeeded.
 *
 * <p>This package contains no policy: no threads, no deadlines, no state except which libraries this process has
 * loaded.
 */
package ferro.backend.nccl.ffi;
