/**
 * The code that runs in the driver. This code checks the application before a job, submits one barrier job per attempt,
 * and creates one exception for a failed attempt. Start reading at {@link ferro.spark.driver.JobAttempts}.
 *
 * <p>No code of this package runs in an executor.
 */
package ferro.spark.driver;
