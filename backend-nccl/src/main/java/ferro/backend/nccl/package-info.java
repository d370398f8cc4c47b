/**
 * Failures of NCCL, and the numbers of nccl.h, for users of the back end. {@code -Dferro.backend=nccl} selects this
 * back end, {@code -Dferro.backend=cpu:tcp,cuda:nccl} for device tensors only.
 *
 * <p>Start reading at {@link ferro.backend.nccl.NcclException}. Groups and communicators are in
 * {@code ferro.backend.nccl.comm}, devices and streams in {@code ferro.backend.nccl.device}. Each package uses those
 * before it: {@code ffi}, {@code device}, {@code queue}, {@code memory}, {@code comm}.
 *
 * <p>This package is the lowest. The package makes no native call, and does not depend on the others.
 */
package ferro.backend.nccl;
