/**
 * The slow way of a device tensor: to the host, through a host back end, and back.
 *
 * <p>Start at the host round trip, the {@link ferro.dispatch.HostFallback} of this module.
 *
 * <p>No native code here: copies are {@link ferro.dispatch.DeviceMemory}'s. Whether this way may be taken is not asked here.
 */
package ferro.backend.gloofallback;
