/** Collectives of NCCL and RCCL by JNA, and memory of their devices. */
module ferro.backend.nccl {
    requires transitive ferro.spi;
    requires ferro.collectives;
    requires com.sun.jna;

    exports ferro.backend.nccl;
    exports ferro.backend.nccl.comm;
    exports ferro.backend.nccl.device;
    exports ferro.backend.nccl.ffi to
            com.sun.jna;

    uses ferro.spi.ControlLaneProvider;

    provides ferro.spi.BackendProvider with
            ferro.backend.nccl.comm.NcclBackendProvider;
    provides ferro.dispatch.DeviceMemoryProvider with
            ferro.backend.nccl.memory.CudaMemoryProvider;
}
