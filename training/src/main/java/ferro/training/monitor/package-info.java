/**
 * Reports on a training job: loss, speed, and the shares of time for computing and communication.
 *
 * <p>Start reading at {@link ferro.training.monitor.TrainingMonitor}.
 *
 * <p>This package reads no environment variables. The builder of a monitor sets where reports go.
 */
package ferro.training.monitor;
