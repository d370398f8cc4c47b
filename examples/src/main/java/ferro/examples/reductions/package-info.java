/**
 * Reductions of a program's own: by code for two elements, and by code for runs of them.
 *
 * <p>Start at {@link ferro.examples.reductions.LogSumExp}. What such code must be stands in {@link ferro.ReduceOp}; nothing here
 * keeps state or calls a group from inside it.
 */
package ferro.examples.reductions;
