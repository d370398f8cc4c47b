/**
 * Chooses the route of a call on device tensors: NCCL first, then, only if the gate is open, through host memory, else an
 * error.
 *
 * {@snippet file="ferro/examples/snippets/PackageSnippetsTest.java" region="dispatch" :
 *
 * try (GpuCollectives gpu = GpuCollectives.with(context)) {
 *     DeviceTensor sum = gpu.allReduce(gradient, ReduceOp.SUM, group.backend());
 *     GpuCollectives.free(sum);
 * }
 * }
 *
 * <p>The operand stays as it is. Calls that work in place need none of this: {@code ProcessGroup} takes device tensors itself.
 *
 * <p>Start at {@link ferro.dispatch.GpuCollectives}, then {@code Dispatch}, which decides; {@code DispatchingBackend} puts
 * it in front of a back end. The slow path is {@link ferro.dispatch.HostFallback}; it copies with
 * {@link ferro.dispatch.DeviceMemory}.
 *
 * <p>This package has no native code and names no back end: NCCL is an interface, the slow path a service.
 */
package ferro.dispatch;
