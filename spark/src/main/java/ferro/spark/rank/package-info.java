/**
 * The types that a rank's function uses. Start reading at {@link ferro.spark.rank.RankFunction}.
 *
 * <p>No type of this package depends on Spark, so a rank's function can be tested without Spark.
 */
package ferro.spark.rank;
