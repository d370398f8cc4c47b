/**
 * Where a medium enters: {@link ferro.collectives.CollectiveEngine} gives it every collective.
 * Module examples has such a medium of two short files, {@code ferro.examples.files}.
 *
 * <p>The engine itself is in {@code engine}; it runs plans ({@code plan}, {@code algorithm}) over links ({@code link}) and
 * programs in shared memory ({@code shared}), combines by the kernels of {@code reduce}, and agrees with the other ranks
 * on failures by {@code control}.
 */
package ferro.collectives;
