/**
 * Optimizers over averaged gradients, and the rules by which they update parameters.
 *
 * <p>Start at {@link ferro.training.optimizer.ShardedOptimizer}, which updates the part of each bucket that a rank has, and at
 * {@link ferro.training.optimizer.UpdateRule}, which says how. Gradients and their buckets are in {@link ferro.training}.
 */
package ferro.training.optimizer;
