/** The engine and the front door; the rules of the control plane are open to the simulator's tests only. */
@SuppressWarnings("module")
module ferro.collectives {
    requires transitive ferro.spi;
    // by sun.misc.Unsafe spi, which needs java.base only, tells on JDK 17 to 21 whether two buffers overlap
    requires jdk.unsupported;

    exports ferro.collectives;
    exports ferro.collectives.control.failure to
            ferro.backend.simulated;
    exports ferro.collectives.link;
    exports ferro.collectives.plan;
    exports ferro.collectives.reduce;
    exports ferro.group;
    exports ferro.job;
}
