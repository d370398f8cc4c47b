/**
 * The main example. Several ranks train one character-level language model on the text of a folder, with data parallelism.
 *
 * <p>Start at {@link ferro.examples.textmodel.TextModelMain}, then {@code Trainer}. Each rank computes the gradient of its
 * share of every batch. {@code GradientBuckets} averages the gradients over all ranks, and all ranks make the same step.
 */
package ferro.examples.textmodel;
