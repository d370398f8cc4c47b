/**
 * What users of NCCL read and catch: failures, and the numbers of nccl.h.
 * {@code -Dferro.backend=nccl} chooses it, {@code -Dferro.backend=cpu:tcp,cuda:nccl} for device tensors only.
 *
 * <p>Start at {@link ferro.backend.nccl.NcclException}. The doors are in {@code ferro.backend.nccl.comm}: groups and
 * communicators. {@code ferro.backend.nccl.device} has devices and streams. Each package uses those before it:
 * {@code ffi}, {@code device}, {@code queue}, {@code memory}, {@code comm}.
 *
 * <p>This package is the lowest. It makes no native call, and knows nothing of the others.
 */
package ferro.backend.nccl;
