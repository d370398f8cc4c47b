/** The engine and the front door. */
module ferro.collectives {
    requires transitive ferro.spi;

    exports ferro.collectives;
    exports ferro.collectives.plan;
    exports ferro.collectives.reduce;
    exports ferro.group;

    uses ferro.spi.BackendProvider;
    uses ferro.spi.StoreProvider;
}
