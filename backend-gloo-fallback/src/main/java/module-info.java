/** Collectives on device tensors through host memory. */
module ferro.backend.gloofallback {
    requires ferro.spi;

    provides ferro.dispatch.HostFallback with
            ferro.backend.gloofallback.HostRoundTrip;
    provides ferro.spi.BackendProvider with
            ferro.backend.gloofallback.RoundTripProvider;
}
