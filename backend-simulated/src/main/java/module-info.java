/** Ranks inside one JVM. Each rank has a thread, or all ranks run on one thread in an order drawn from a seed. */
module ferro.backend.simulated {
    requires transitive ferro.collectives;

    exports ferro.backend.simulated;

    provides ferro.spi.BackendProvider with
            ferro.backend.simulated.SimulatedBackendProvider;
}
