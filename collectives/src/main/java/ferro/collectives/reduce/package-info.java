/**
 * Arithmetic and bulk copies over the memories that a {@link ferro.HostTensor} may have.
 *
 * <p>Start reading at {@link ferro.collectives.reduce.Kernels}, which chooses a {@link ferro.collectives.reduce.Kernel};
 * {@link ferro.collectives.reduce.Elements} moves elements unchanged.
 *
 * <p>Code in this package allocates nothing per call once warm, does not block, and does not know of ranks and plans. A
 * choice by type or op stands only in this package.
 */
package ferro.collectives.reduce;
