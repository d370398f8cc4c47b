/**
 * Plans: what one rank does in one collective, as data, and the proof that the plans of all ranks are correct.
 *
 * <p>Start reading at {@link ferro.collectives.plan.Plan}, then {@link ferro.collectives.plan.PlanBuilder}, then
 * {@link PlanVerifier}.
 *
 * <p>No code in this package opens a socket, starts a thread, blocks, logs or sees a tensor.
 */
package ferro.collectives.plan;
