/**
 * How ranks meet and report: the store that the driver serves, the secret that both sides derive, and the line by which a rank
 * writes to the driver. Start reading at {@link ferro.spark.meeting.DriverStore}.
 *
 * <p>The secret never travels, and never stands in a setting of Spark.
 */
package ferro.spark.meeting;
