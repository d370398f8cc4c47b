package ferro.backend.nccl.memory;

/** Memory of a device, or pinned memory of the host, as the runtime allocated it. */
record DeviceBlock(long address, long bytes) {}
