/**
 * Parts of the kit that know no rule: threads of ranks and of groups, events of a recording, bytes of devices without a GPU.
 *
 * <p>Start reading at {@code RankThreads}. Nothing here knows a class of {@code ferro.tck}.
 */
package ferro.tck.parts;
