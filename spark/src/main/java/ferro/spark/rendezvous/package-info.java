/**
 * The store through which ranks find each other and report to the driver. The driver serves the store. Each rank has a
 * connection to the store for its reports. Driver and ranks derive the same secret. Start reading at
 * {@link ferro.spark.rendezvous.DriverStore}.
 *
 * <p>The secret is never sent, and no Spark setting contains it.
 */
package ferro.spark.rendezvous;
