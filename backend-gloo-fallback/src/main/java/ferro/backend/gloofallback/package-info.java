/**
 * The slow path of a device tensor: to the host, through a host back end, and back.
 * {@code FERRO_ENABLE_GPU_FALLBACK=1} allows it to a group over any back end; {@code -Dferro.backend=gloo-fallback} names it.
 *
 * <p>Start at the host round trip, the {@link ferro.dispatch.HostFallback} of this module.
 *
 * <p>This package has no native code: {@link ferro.dispatch.DeviceMemory} does the copies. It does not check whether this
 * path may be used.
 */
package ferro.backend.gloofallback;
