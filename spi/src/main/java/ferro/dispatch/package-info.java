/**
 * The choice of a route for a call on device tensors. The route is NCCL if the back end has NCCL. Without NCCL, the
 * route is host memory, if the settings allow this route. A call without a route throws an exception.
 *
 * {@snippet file="ferro/examples/snippets/PackageSnippetsTest.java" region="dispatch" :
 *
 * try (GpuCollectives gpu = GpuCollectives.with(context)) {
 *     DeviceTensor sum = gpu.allReduce(gradient, ReduceOp.SUM, group.backend());
 *     GpuCollectives.free(sum);
 * }
 * }
 *
 * <p>The call in the example does not change its operand. An in-place call does not need this package, since
 * {@code ProcessGroup} accepts device tensors itself.
 *
 * <p>Start at {@link ferro.dispatch.GpuCollectives}, then read {@code Dispatcher}, which chooses the route.
 * {@code DeviceTensorBackend} makes the choice for every call on a back end. The slow path is
 * {@link ferro.dispatch.HostFallback}, which copies with {@link ferro.dispatch.DeviceMemory}.
 *
 * <p>This package calls no native code and refers to no class of a back end. NCCL is an interface, and the slow path is
 * a service.
 */
package ferro.dispatch;
