/**
 * The API that runs ferro groups inside barrier stages of Spark. Each partition of an RDD becomes one rank.
 *
 * <p>Start reading at {@link ferro.spark.FerroSpark}. Continue with {@link ferro.spark.rank.SparkRank}, the argument of
 * a rank's function.
 *
 * <p>The package {@code driver} runs in the driver: it checks the application, submits jobs, retries them and turns a
 * failure into one exception. The package {@code task} runs in the Spark tasks. The package {@code rendezvous} has the
 * store through which driver and tasks communicate. The package {@code internals} has the only class that uses Spark's
 * internal API.
 *
 * <p>Spark's jars share packages with each other, so this module works on the class path only.
 */
package ferro.spark;
