/**
 * A computation on a grid in two dimensions, in which each rank has a block of the grid and exchanges the edges of the
 * block with its neighbours.
 *
 * <p>Start at {@link ferro.examples.heat.HeatGrid}. The result has the same bits for any number of ranks.
 */
package ferro.examples.heat;
