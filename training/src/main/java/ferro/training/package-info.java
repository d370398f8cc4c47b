/**
 * Data-parallel training: every rank holds the whole model, computes the gradients of its own samples, and all ranks apply the
 * average.
 *
 * <p>Start reading at {@link ferro.training.BucketLayout}: which gradient lies in which bucket is a function of the parameters and
 * the settings alone, and everything else here goes by it. Then {@link ferro.training.GradientBuckets}, which averages gradients, and
 * {@link ferro.training.Join}, for ranks with different numbers of batches. Optimizers are in {@code ferro.training.optimizer}.
 *
 * <p>Nothing here knows a framework, and nothing here reads the environment.
 */
package ferro.training;
