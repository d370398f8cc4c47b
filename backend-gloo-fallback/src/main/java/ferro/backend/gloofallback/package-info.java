/**
 * Calls on device tensors through host memory. The data is copied to the host, goes through a host back end, and is
 * copied back, which is slow. {@code FERRO_ENABLE_GPU_FALLBACK=1} allows calls through host memory in a group over any
 * back end. {@code -Dferro.backend=gloo-fallback} selects this back end.
 *
 * <p>Start reading at {@code HostRoundTrip}, the {@link ferro.dispatch.HostFallback} of this module.
 *
 * <p>This package has no native code, because {@link ferro.dispatch.DeviceMemory} does the copies. The package does not
 * check whether calls through host memory are allowed.
 */
package ferro.backend.gloofallback;
