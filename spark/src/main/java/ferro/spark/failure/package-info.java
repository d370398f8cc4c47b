/**
 * The report that a rank sends when it fails, and the exception that the driver creates from all reports. Start reading
 * at {@link ferro.spark.failure.FerroSparkException}.
 *
 * <p>Reports are encoded by the codec of control messages, so the driver never deserializes Java objects that a rank sent.
 */
package ferro.spark.failure;
