/**
 * How long a collective should take: by the plans that the engine runs, and what links, copies and sums cost at this moment.
 *
 * <p>Start reading at {@link ferro.benchmarks.model.PlanTime}. There is no formula per algorithm: whatever can be planned can be
 * predicted.
 *
 * <p>Nothing here opens a link or reads a clock.
 */
package ferro.benchmarks.model;
