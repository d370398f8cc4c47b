package ferro.control.group;

import ferro.control.failure.RankProcesses;

/**
 * A rank's place among all groups of one joined group.
 *
 * @param joinedRanks ranks of the joined group, in the order of this group
 * @param statuses    state of this rank in all of them
 * @param processes   which ranks of the joined group share a process
 */
public record JoinedPosition(int[] joinedRanks, RankStatuses statuses, RankProcesses processes) {}
