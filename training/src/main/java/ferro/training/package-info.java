/**
 * Data-parallel training. Every rank holds the whole model and computes the gradients of its own samples. All ranks
 * apply the average of all gradients.
 *
 * <p>Start reading at {@link ferro.training.BucketLayout}. A layout maps each gradient to a bucket and depends only on
 * the parameters, the settings and the number of ranks. The other classes for gradients use the layout. Then read
 * {@link ferro.training.GradientBuckets}, which averages gradients, and {@link ferro.training.Join}, for ranks with
 * different numbers of batches. Optimizers are in {@code ferro.training.optimizer}.
 *
 * <p>This package depends on no training framework and reads no environment variables.
 */
package ferro.training;
