/**
 * Text generation with Jlama, whose models are split over the ranks of a group. Start reading at {@link
 * ferro.examples.jlama.TextGenerator}, then {@code ShardedModel}.
 *
 * <p>Each rank loads its part of the attention heads and of the hidden units. ferro adds the partial results of all ranks
 * twice per layer.
 */
package ferro.examples.jlama;
