/** Collectives on device tensors through host memory. */
module ferro.backend.gloofallback {
    requires transitive ferro.spi;

    exports ferro.backend.gloofallback;

    provides ferro.dispatch.HostFallback with
            ferro.backend.gloofallback.HostRoundTrip;
    provides ferro.spi.BackendProvider with
            ferro.backend.gloofallback.RoundTripProvider;
}
