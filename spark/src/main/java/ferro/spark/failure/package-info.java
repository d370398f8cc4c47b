/**
 * What a rank reports when it fails, and the one exception that the driver makes of all reports. Start reading at
 * {@link ferro.spark.failure.FerroSparkException}.
 *
 * <p>Reports are bytes of a form of their own: nothing that a rank sends is deserialized as an object.
 */
package ferro.spark.failure;
