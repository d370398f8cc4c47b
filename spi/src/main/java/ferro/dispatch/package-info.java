/**
 * Where a call on device tensors goes: NCCL first, then, only if the gate is open, through host memory, else an error.
 *
 * <p>Start at {@link ferro.dispatch.GpuCollectives}, then {@code Dispatch}, which decides; {@code DispatchingBackend} puts it in
 * front of a back end. The slow way is {@link ferro.dispatch.HostFallback}; it copies with {@link ferro.dispatch.DeviceMemory}.
 *
 * <p>No native code here, and no back end is named: NCCL is an interface, the slow way a service.
 */
package ferro.dispatch;
