/**
 * One rank, in its barrier task: it joins, runs the user's function, reports and leaves. Start reading at
 * {@link ferro.spark.task.BarrierRank}.
 *
 * <p>Nothing here runs at the driver but constructors, whose objects Spark sends to the executors.
 */
package ferro.spark.task;
