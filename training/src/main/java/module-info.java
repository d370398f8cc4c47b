/** Data-parallel training on ferro's collectives. The module depends on no training framework. */
module ferro.training {
    requires transitive ferro.collectives;

    exports ferro.training;
    exports ferro.training.checkpoint;
    exports ferro.training.optimizer;
}
