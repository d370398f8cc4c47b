/**
 * Groups of ferro inside barrier stages of Spark. The jar ferro-spark has no module descriptor: use the jar on the class path,
 * beside Spark. Start at {@link ferro.spark}.
 */
module ferro.spark {
    requires transitive ferro.collectives;
    requires transitive ferro.training;

    exports ferro.spark;
    exports ferro.spark.failure;
    exports ferro.spark.rank;
}
