/**
 * Training of LightGBM models inside barrier stages of Spark. The jar ferro-lightgbm-spark has no module descriptor: use the jar
 * on the class path, beside Spark. Start at {@link ferro.lightgbm.spark}.
 */
module ferro.lightgbm.spark {
    requires transitive ferro.lightgbm;
    requires transitive ferro.spark;

    exports ferro.lightgbm.spark;
}
