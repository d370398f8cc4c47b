/**
 * Reductions that a program defines, by code for two elements or by code for runs of elements.
 *
 * <p>Start at {@link ferro.examples.reductions.LogSumExp}. The requirements on such code are in {@link ferro.ReduceOp}.
 * A reduction of this package keeps no state and calls no group.
 */
package ferro.examples.reductions;
