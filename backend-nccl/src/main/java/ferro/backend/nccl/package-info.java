/**
 * Failures of NCCL, and the numbers of nccl.h, for users of the back end. {@code -Dferro.backend=nccl} selects this
 * back end. {@code -Dferro.backend=cpu:tcp,cuda:nccl} selects it for device tensors only.
 *
 * <p>Start reading at {@link ferro.backend.nccl.NcclException}. Groups and communicators are in {@code
 * ferro.backend.nccl.comm}, devices and streams in {@code ferro.backend.nccl.device}. In the list {@code ffi}, {@code
 * device}, {@code queue}, {@code memory}, {@code comm}, each package uses only packages that come before it.
 *
 * <p>This package makes no native call, and does not depend on the others.
 */
package ferro.backend.nccl;
