/**
 * Plans: the steps of one rank in one collective, as data.
 *
 * <p>Start reading at {@link ferro.collectives.plan.Plan}, then {@link ferro.collectives.plan.PlanBuilder}. The tests
 * of this package have PlanVerifier, which proves that the plans of all ranks together are correct.
 *
 * <p>No code in this package opens a socket, starts a thread, blocks, logs or sees a tensor.
 */
package ferro.collectives.plan;
