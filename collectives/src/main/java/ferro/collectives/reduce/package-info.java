/**
 * Arithmetic and bulk copies on the memory of a {@link ferro.HostTensor}: arrays and direct buffers.
 *
 * <p>Start reading at {@link ferro.collectives.reduce.KernelFactory}, which chooses a
 * {@link ferro.collectives.reduce.Kernel}. {@link ferro.collectives.reduce.ElementCopier} moves elements unchanged.
 *
 * <p>After the first calls, code in this package allocates nothing per call. No code of this package blocks or depends
 * on ranks and plans. Only this package has code that chooses by type or op.
 */
package ferro.collectives.reduce;
