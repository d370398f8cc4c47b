package ferro.backend.nccl.queue;

import ferro.control.group.JoinedGroupView;
import ferro.control.group.RankStatuses;
import ferro.control.membership.Hashing;
import ferro.control.membership.Membership;
import ferro.spi.ControlLane;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.util.stream.IntStream;

/**
 * The position of a group among all groups that were made from one joined group.
 *
 * @param lane        control messages between the ranks of the group
 * @param membership  membership of the joined group
 * @param joined      numbers that the ranks of the group have in the joined group
 * @param identity    identity of the group, 64 bits
 * @param isConnected whether the ranks exchange control messages; if false, this rank receives none
 */
public record GroupOrigin(
        ControlLane lane, Membership membership, JoinedGroupView joined, long identity, boolean isConnected) {
    /**
     * A number that distinguishes the identity of a group from that of another back end's group with the same name and
     * ranks.
     */
    private static final long PURPOSE = 0x6e63636cL;

    /** Returns the position of a joined group whose processes are watched. */
    public static GroupOrigin joined(ControlLane lane, GroupSpec group, RankContext context) {
        long identity = identity(group);
        return of(lane, Membership.watching(lane, group, context, identity), identity, true);
    }

    /** Returns the position of a joined group whose processes need not be watched, or are watched for another group. */
    public static GroupOrigin unwatched(ControlLane lane, GroupSpec group) {
        return of(lane, Membership.unwatched(group), identity(group), true);
    }

    /** Returns the position of a group whose ranks have no control messages. */
    public static GroupOrigin unconnected(ControlLane lane, GroupSpec group) {
        return of(lane, Membership.unreachable(group), identity(group), false);
    }

    private static long identity(GroupSpec group) {
        return Hashing.mix(Hashing.of(group.name()), PURPOSE);
    }

    private static GroupOrigin of(ControlLane lane, Membership membership, long identity, boolean isConnected) {
        int[] all = IntStream.range(0, lane.worldSize()).toArray();
        return new GroupOrigin(
                lane, membership, new JoinedGroupView(all, new RankStatuses(), membership), identity, isConnected);
    }

    /** Returns the position of a subgroup. {@code agreed} is the identity on which the ranks have agreed. */
    public GroupOrigin child(long agreed, int[] members) {
        int[] inJoined = IntStream.of(members).map(rank -> ranks()[rank]).toArray();
        JoinedGroupView below = new JoinedGroupView(inJoined, joined.statuses(), membership);
        return new GroupOrigin(lane.subgroup(members, agreed), membership, below, agreed, isConnected);
    }

    /** Returns the numbers that the ranks of this group have in the joined group, in the order of this group. */
    public int[] ranks() {
        return joined.joinedRanks();
    }
}
