/**
 * The main example. Several ranks train one character-level language model on the text of a folder, with data
 * parallelism.
 *
 * <p>Start at {@link ferro.examples.textmodel.TextModelMain}, then {@code Trainer}. Each rank computes the gradient of
 * its share of every batch. {@code GradientBuckets} averages the gradients over all ranks, and all ranks make the same
 * step. The model {@code CharModel} has an embedding, a hidden layer and a softmax. The model consists of plain loops
 * over arrays, so that all of data-parallel training can be read at once.
 *
 * <p>The classes {@code Batches}, {@code Dense} and {@code Rows} are plain Java that runs without ferro.
 */
package ferro.examples.textmodel;
