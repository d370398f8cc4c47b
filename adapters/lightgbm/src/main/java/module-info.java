/** Distributed training of LightGBM models. */
@SuppressWarnings("requires-automatic")
module ferro.lightgbm {
    requires transitive ferro.collectives;
    requires com.sun.jna;
    // has the native library
    requires lightgbmlib;

    exports ferro.lightgbm;
    exports ferro.lightgbm.ffi to
            com.sun.jna;
}
