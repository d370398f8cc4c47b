/**
 * The only class of ferro that uses Spark's internal API. The tests run this class with each supported version of
 * Spark.
 *
 * <p>No other class of this module may use Spark's internal API.
 */
package ferro.spark.internals;
