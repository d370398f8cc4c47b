/**
 * What a rank's function sees. Start reading at {@link ferro.spark.rank.RankFunction}.
 *
 * <p>Nothing here knows Spark, so that a rank's function can be tested without it.
 */
package ferro.spark.rank;
