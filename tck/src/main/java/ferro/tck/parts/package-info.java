/**
 * Support classes of the contract kit that contain no rule. The classes handle threads of ranks and of groups, events
 * of a recording, and the bytes of simulated devices.
 *
 * <p>Start reading at {@code RankThreads}. No class of this package uses a class of {@code ferro.tck}.
 */
package ferro.tck.parts;
