package ferro.control.group;

import ferro.control.failure.RankProcesses;

/**
 * The position of a rank in a joined group or in one of its subgroups.
 *
 * @param joinedRanks ranks of the joined group, in the order of this group
 * @param statuses    state of this rank in all groups of the joined group
 * @param processes   processes of the ranks of the joined group
 */
public record JoinedGroupView(int[] joinedRanks, RankStatuses statuses, RankProcesses processes) {}
