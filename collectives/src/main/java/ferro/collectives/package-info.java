/**
 * The entry point for media: {@link ferro.collectives.CollectiveEngine} makes a back end with every collective from a
 * medium. Module examples has such a medium in two short files, {@code ferro.examples.files}.
 *
 * <p>The engine itself is in {@code engine}. It runs plans ({@code plan}, {@code algorithm}) over links ({@code link}),
 * and programs in shared memory ({@code shared}). It combines elements with the kernels of {@code reduce}. It agrees
 * with the other ranks on failures through {@code control}.
 */
package ferro.collectives;
