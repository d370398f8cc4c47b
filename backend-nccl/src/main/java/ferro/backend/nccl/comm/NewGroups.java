package ferro.backend.nccl.comm;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.backend.nccl.comm.NcclMember.MeetingKeys;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.GroupPosition;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.backend.nccl.queue.WorkQueue;
import ferro.control.failure.Machines;
import ferro.control.group.SubgroupAgreement;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Makes groups of some ranks, on which the members agree by control messages ({@link SubgroupAgreement}). The first
 * member of the list then makes an id of the library and passes it to the others. The parent group does not change.
 */
final class NewGroups {
    private final NcclMember member;
    private final WorkQueue queue;

    NewGroups(NcclMember member, WorkQueue queue) {
        this.member = member;
        this.queue = queue;
    }

    private SubgroupAgreement agreement() {
        return queue.control().group().agreement();
    }

    /** Makes a group. Waits until all members have called. */
    CollectiveBackend make(int[] ranks, String name, Duration timeout) {
        queue.refuse(NcclOperation.NEW_GROUP);
        int[] members = ranks.clone();
        int rank = agreement().position(members);
        Deadline deadline = queue.deadline(timeout);
        agreement().making().begun();
        try {
            long agreed = agreement().reach(member.keys().position().identity(), members, timeout);
            return join(members, rank, name, agreed, deadline);
        } finally {
            agreement().making().ended();
        }
    }

    private CollectiveBackend join(int[] members, int rank, String name, long agreed, Deadline deadline) {
        CommIdentity parent = queue.identity();
        GroupSpec group = GroupSpec.of(parent.group() + name, rank, members.length, member.timeout());
        MeetingKeys keys = member.keys();
        String base = keys.base() + "/" + Long.toHexString(agreed);
        GroupPosition position = keys.position().child(agreed, members);
        String self = Machines.named(
                Set.of(rank), position.ranks(), position.joined().processes().group());
        CommIdentity identity = new CommIdentity(group.name(), rank, members.length, parent.device(), self);
        JnaNcclBackend made;
        try {
            NcclUniqueId id = id(base + "/id", rank == 0, deadline);
            Communicator comm = CommFactory.of(member.context()).rank(identity, id, deadline);
            OptionalLong stream = member.stream().owned()
                    ? OptionalLong.empty()
                    : OptionalLong.of(member.stream().handle());
            made = new NcclJoin(group, member.context(), stream, group.timeout())
                    .assemble(comm, new MeetingKeys(keys.ids(), base, keys.left(), position));
        } catch (RuntimeException | Error failure) {
            position.lane().close();
            throw failure;
        }
        agreement().made().opened(agreed, made.control());
        return made;
    }

    private NcclUniqueId id(String key, boolean isFirst, Deadline deadline) {
        try {
            return member.keys().ids().meet(key, isFirst, deadline);
        } catch (FerroException late) {
            if (!isFirst) {
                queue.refuse(NcclOperation.NEW_GROUP);
            }
            throw late;
        }
    }
}
