/**
 * The entry point for media. {@link ferro.collectives.CollectiveEngine} makes a back end with every collective from a
 * medium. {@link ferro.collectives.StagedLink} is a complete link for a medium that moves bytes in order, and
 * {@link ferro.collectives.MessageStream} carries control messages. Module examples has a medium in two short files,
 * {@code ferro.examples.files}.
 *
 * <p>The engine itself is in {@code engine}. The engine runs plans ({@code plan}) over links ({@code link}), and
 * programs in shared memory ({@code shared}). The engine combines elements with the kernels of {@code reduce}. With
 * {@code control}, the engines of all ranks agree on failures.
 */
package ferro.collectives;
