/**
 * Arithmetic and bulk copies over the memories that a {@link ferro.HostTensor} may have.
 *
 * <p>Start reading at {@link ferro.collectives.reduce.Kernels}, which chooses a
 * {@link ferro.collectives.reduce.Kernel}; {@link ferro.collectives.reduce.Elements} moves elements unchanged.
 *
 * <p>Nothing in this package allocates per call once warm, blocks, or knows of ranks and plans; a choice by type or op
 * stands here and nowhere else.
 */
package ferro.collectives.reduce;
