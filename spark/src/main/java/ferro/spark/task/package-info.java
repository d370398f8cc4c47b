/**
 * The code of one rank in its barrier task. The rank joins the group, runs the user's function, reports a failure and
 * leaves the group. Start reading at {@link ferro.spark.task.BarrierTaskFunction}.
 *
 * <p>Only constructors of this package run in the driver. Spark sends the constructed objects to the executors.
 */
package ferro.spark.task;
