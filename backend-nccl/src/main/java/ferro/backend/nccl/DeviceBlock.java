package ferro.backend.nccl;

/**
 * Memory of a device, or pinned memory of the host, as the runtime gave it.
 *
 * @param address where
 * @param bytes   size
 */
record DeviceBlock(long address, long bytes) {}
