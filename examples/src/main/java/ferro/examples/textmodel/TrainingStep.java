package ferro.examples.textmodel;

/**
 * One training step, as this rank measured it.
 *
 * @param number             number of the step, from 0
 * @param loss               mean loss over the full batch, before the step
 * @param characters         samples of the full batch
 * @param startNanos         time from the start of training to the start of the step
 * @param endNanos           time from the start of training to the end of the step
 * @param communicationNanos part of the step spent in averaging, including the wait for slower ranks
 */
record TrainingStep(int number, double loss, int characters, long startNanos, long endNanos, long communicationNanos) {}
