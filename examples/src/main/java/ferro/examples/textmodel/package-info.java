/**
 * The main job: several ranks train one character-level language model on the text of a folder, in data parallel.
 *
 * <p>Start at {@link ferro.examples.textmodel.TextModelMain}, then {@code Trainer}: each rank computes the gradient of its
 * share of every batch, {@code GradientExchange} averages it over all ranks, and all ranks take the same step. The model
 * ({@code CharModel}: embedding, hidden layer, softmax) consists of plain loops over arrays, so that the whole of
 * data-parallel training can be read at once.
 *
 * <p>Only {@code TextModelJob} and the main class may know ferro; everything else is plain Java that runs without it.
 */
package ferro.examples.textmodel;
