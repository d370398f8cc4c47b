/**
 * What runs at the driver: checks before a job, one barrier job per attempt, and one exception for a failed one. Start reading at
 * {@link ferro.spark.driver.JobAttempts}.
 *
 * <p>Nothing here runs in an executor.
 */
package ferro.spark.driver;
