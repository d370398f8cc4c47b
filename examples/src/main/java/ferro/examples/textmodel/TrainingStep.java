package ferro.examples.textmodel;

/**
 * One training step, as this rank measured it.
 *
 * @param number             number of the step, from 0
 * @param loss               mean loss over the full batch, before the step
 * @param characters         samples of the full batch
 * @param startNanos         start of the step, since training began
 * @param endNanos           end of the step, since training began
 * @param communicationNanos part of the step spent in averaging, including the wait for slower ranks
 */
record TrainingStep(int number, double loss, int characters, long startNanos, long endNanos, long communicationNanos) {}
