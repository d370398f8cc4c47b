/** Collectives on device tensors through host memory. */
module ferro.backend.gloofallback {
    requires transitive ferro.spi;
}
