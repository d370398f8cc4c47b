/**
 * What ferro needs of Spark that is not in its public API, in one class, with a test per version of Spark.
 *
 * <p>Nothing else of this module may touch what Spark keeps to itself.
 */
package ferro.spark.internals;
