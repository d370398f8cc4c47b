/**
 * Reductions that a program defines: by code for two elements, and by code for runs of elements.
 *
 * <p>Start at {@link ferro.examples.reductions.LogSumExp}. The requirements on such code are in {@link ferro.ReduceOp}.
 * Nothing here keeps state or calls a group from inside a reduction.
 */
package ferro.examples.reductions;
