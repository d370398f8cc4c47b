/**
 * What a training job tells of itself: loss, speed, and which part of the time was computing and communicating.
 *
 * <p>Start reading at {@link ferro.training.monitor.TrainingMonitor}.
 *
 * <p>Nothing here reads the environment: where reports go is told.
 */
package ferro.training.monitor;
