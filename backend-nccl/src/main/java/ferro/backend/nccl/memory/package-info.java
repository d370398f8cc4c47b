/**
 * Memory of CUDA and HIP devices, which is pooled, and host memory for copies to devices.
 *
 * <p>Start reading at {@code CudaMemory}. Each device that is used has a {@code DeviceMemoryResources}: a thread,
 * streams for copies and idle blocks. {@code TensorLeases} prevents that memory is reused while an operation uses it.
 * {@code HostStagingBlocks} is the memory between host tensors and the device.
 *
 * <p>This package needs only the runtime, not NCCL.
 */
package ferro.backend.nccl.memory;
