/** Ranks inside one JVM: on threads, or on one thread in an order drawn from a seed. */
module ferro.backend.simulated {
    requires transitive ferro.collectives;

    exports ferro.backend.simulated;

    provides ferro.spi.BackendProvider with
            ferro.backend.simulated.SimulatedBackendProvider;
}
