/**
 * Memory of CUDA and HIP devices, pooled, and the related host memory.
 *
 * <p>Start reading at {@code CudaMemory}. Each device that is used has a {@code DeviceMemoryResources}: a thread,
 * streams for copies and idle blocks. {@code TensorLeases} keeps memory from reuse while an operation uses it. {@code
 * HostStagingBlocks} is the memory between host tensors and the device.
 *
 * <p>Needs the runtime only, not NCCL.
 */
package ferro.backend.nccl.memory;
