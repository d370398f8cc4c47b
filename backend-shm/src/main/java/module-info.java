/** Memory that ranks of one host share, and the back end that uses only this memory for data. */
module ferro.backend.shm {
    requires transitive ferro.spi;
    // sun.misc.Unsafe unmaps a buffer immediately on JDK 17 to 21
    requires jdk.unsupported;

    exports ferro.backend.shm;

    provides ferro.spi.BackendProvider with
            ferro.backend.shm.ShmBackendProvider;
    provides ferro.spi.SharedMemoryProvider with
            ferro.backend.shm.ShmMemoryProvider;
}
