/**
 * The engine, and the main API for users; the rules of the control plane are exported to the simulator's tests only.
 */
@SuppressWarnings("module")
module ferro.collectives {
    requires transitive ferro.spi;
    // spi, which needs java.base only, uses sun.misc.Unsafe on JDK 17 to 21 to detect whether two buffers overlap
    requires jdk.unsupported;

    exports ferro.collectives;
    exports ferro.collectives.link to
            ferro.backend.simulated,
            ferro.backend.tcp;
    exports ferro.collectives.reduce to
            ferro.backend.simulated,
            ferro.backend.tcp,
            ferro.tck;
    exports ferro.control.failure to
            ferro.backend.nccl,
            ferro.backend.simulated;
    exports ferro.control.group to
            ferro.backend.nccl;
    exports ferro.control.membership to
            ferro.backend.nccl;
    exports ferro.control.wire to
            ferro.backend.nccl;
    exports ferro.group;
    exports ferro.job;
}
