/**
 * Groups of ferro inside barrier stages of Spark: each partition of an RDD is a rank.
 *
 * <p>Start reading at {@link ferro.spark.FerroSpark}, then {@link ferro.spark.rank.SparkRank}, which a rank's function gets.
 * {@code driver} runs at the driver: it checks, submits, tries again and makes one exception of a failure. {@code task} runs in the
 * tasks. {@code meeting} is the store by which both talk. {@code internals} has the one class that touches what Spark keeps to
 * itself.
 *
 * <p>Class path only: jars of Spark share packages.
 */
package ferro.spark;
