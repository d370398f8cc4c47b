/**
 * Chooses the route of a call on device tensors: NCCL first, then, only if the gate is open, through host memory, else an
 * error.
 *
 * <p>Start at {@link ferro.dispatch.GpuCollectives}, then {@code Dispatch}, which decides; {@code DispatchingBackend} puts
 * it in front of a back end. The slow path is {@link ferro.dispatch.HostFallback}; it copies with
 * {@link ferro.dispatch.DeviceMemory}.
 *
 * <p>This package has no native code and names no back end: NCCL is an interface, the slow path a service.
 */
package ferro.dispatch;
