/**
 * Reports of a training on several ranks, as one file to copy into a program.
 *
 * <p>Start at {@link ferro.examples.monitor.TrainingMonitor}. It exchanges a few numbers of each rank with one call. Other code
 * of a training does not depend on it.
 */
package ferro.examples.monitor;
