/**
 * Optimizers for averaged gradients, and the rules by which optimizers update parameters.
 *
 * <p>Start reading at {@link ferro.training.optimizer.ShardedOptimizer}, which updates a rank's part of each bucket,
 * and at {@link ferro.training.optimizer.UpdateRule}, which defines the update. Gradients and their buckets are in
 * {@link ferro.training}.
 */
package ferro.training.optimizer;
