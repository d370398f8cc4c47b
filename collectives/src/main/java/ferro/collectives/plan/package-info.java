/**
 * What one rank does in one collective, as data, and what proves it.
 *
 * <p>Start reading at {@link ferro.collectives.plan.Plan}, then {@link ferro.collectives.plan.PlanBuilder}, then
 * {@link PlanVerifier}.
 *
 * <p>Nothing in this package opens a socket, starts a thread, blocks, logs or sees a tensor.
 */
package ferro.collectives.plan;
