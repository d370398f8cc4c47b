/** Tensors over memory segments, for JDK 22 and newer. */
module ferro.segments {
    requires transitive ferro.spi;

    exports ferro.segments;
}
