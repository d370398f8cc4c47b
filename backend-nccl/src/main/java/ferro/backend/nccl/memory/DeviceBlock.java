package ferro.backend.nccl.memory;

/**
 * Memory of a device, or pinned memory of the host, as the runtime allocated it.
 *
 * @param address start address
 * @param bytes   size
 */
record DeviceBlock(long address, long bytes) {}
