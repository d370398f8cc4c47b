package ferro.examples.textmodel;

/**
 * One step, as this rank saw it.
 *
 * @param number             from 0
 * @param loss               mean over the whole batch, before the step
 * @param characters         samples of the whole batch
 * @param startNanos         since training began
 * @param endNanos           since training began
 * @param communicationNanos part of this time spent in averaging, including the wait for slower ranks
 */
record TrainingStep(int number, double loss, int characters, long startNanos, long endNanos, long communicationNanos) {}
