/**
 * Predicts the time of a collective from the plans that the engine runs and the cost of links, copies and sums at this
 * moment.
 *
 * <p>Start reading at {@link ferro.benchmarks.model.PlanTime}. There is no formula per algorithm: every plan can be
 * predicted.
 *
 * <p>Nothing here opens a link or reads a clock.
 */
package ferro.benchmarks.model;
