/**
 * Training of LightGBM models on the rows of a Spark Dataset. Each partition of the Dataset becomes one rank, in a barrier
 * stage of ferro-spark.
 *
 * <p>Start reading at {@link ferro.lightgbm.spark.LightGbmOnFerro}. {@code TrainingPlan} is what the driver sends to the
 * tasks. {@code RankTraining} runs in each task. {@code RankRows} has the rows of one rank.
 *
 * <p>Only the thread of the task calls LightGBM, because LightGBM keeps its network per thread. Spark's jars share packages
 * with each other, so this module works on the class path only.
 */
package ferro.lightgbm.spark;
