/** Collectives of NCCL and RCCL by JNA, memory of their devices, and collectives on device tensors through host memory. */
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
            ferro.backend.nccl.comm.NcclBackendProvider,
            ferro.backend.gloofallback.RoundTripProvider;
    provides ferro.dispatch.DeviceMemoryProvider with
            ferro.backend.nccl.memory.CudaMemoryProvider;
    provides ferro.dispatch.HostFallback with
            ferro.backend.gloofallback.HostRoundTrip;
}
