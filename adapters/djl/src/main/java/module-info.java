/** Data-parallel training of models of the Deep Java Library. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module ferro.djl {
    requires transitive ferro.training;
    requires transitive ai.djl.api;

    exports ferro.djl;
}
