package ferro.backend.nccl.comm;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.nccl.comm.MemberResources.MemberRendezvous;
import ferro.backend.nccl.device.NcclAvailability;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.GroupOrigin;
import ferro.control.group.GroupRegistry;
import ferro.control.group.InProcessControlLanes;
import ferro.spi.Deadlines;
import ferro.spi.ExitTask;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Creates groups over NCCL. Either each device has its own process, and the ranks find each other by a store, or one
 * process uses all devices.
 *
 * <p>Start reading here, then {@link JnaNcclBackend}.
 */
public final class NcclWorld {
    private static final String IN_ONE_PROCESS = "world";

    private NcclWorld() {}

    /**
     * Joins as one rank, on a stream that the group owns.
     *
     * <p>Rank 0 creates the id of the communicator and writes it to the context's store for the others. The setting
     * {@code ferro.nccl.device} names the device; without it, {@code LOCAL_RANK} does.
     *
     * @param group   name, rank and world size; its join timeout limits this call unless {@code ferro.join.timeout} is
     *     set
     * @param context settings and store
     * @return back end of this rank
     * @throws IllegalArgumentException if no setting names a device, the device does not exist, or the host has more
     *     ranks than devices
     * @throws FerroException           RENDEZVOUS or TIMED_OUT naming the missing ranks; NATIVE if a library is missing
     *     or refuses a call; INTERRUPTED
     */
    public static JnaNcclBackend join(GroupSpec group, RankContext context) {
        return new NcclJoin(group, context, OptionalLong.empty(), Deadlines.ofJoin(group, context)).join();
    }

    /**
     * Joins as one rank, on a stream that the caller owns.
     *
     * @param group   name, rank and world size
     * @param context settings and store
     * @param stream  handle of a stream of this rank's device; 0 is the default stream. The caller stays the owner, and
     *     the stream must outlive the group
     * @return back end of this rank
     * @throws IllegalArgumentException as {@link #join}
     * @throws FerroException           as {@link #join}
     */
    public static JnaNcclBackend joinOnStream(GroupSpec group, RankContext context, long stream) {
        return new NcclJoin(group, context, OptionalLong.of(stream), Deadlines.ofJoin(group, context)).join();
    }

    /**
     * Creates a group over devices of this process, with one rank for each device, in the given order. Each back end
     * may be used by a different thread.
     *
     * @param context settings; needs no store
     * @param devices ordinals, all different
     * @return back ends, index = rank; each must be closed
     * @throws IllegalArgumentException if {@code devices} is empty, or a device is named twice or does not exist
     * @throws FerroException           NATIVE, TIMED_OUT, INTERRUPTED; no back end is then left open
     */
    public static List<JnaNcclBackend> createWorld(RankContext context, int... devices) {
        check(devices);
        CommFactory factory = CommFactory.of(context);
        checkExist(context, devices);
        Deadline deadline = factory.deadline(Deadlines.ofCalls(context));
        List<Communicator> comms =
                factory.all(IN_ONE_PROCESS, devices, deadline).split(deadline);
        List<JnaNcclBackend> ends = new ArrayList<>();
        IdExchange ids = IdExchange.local();
        InProcessControlLanes lanes = new InProcessControlLanes(devices.length);
        GroupRegistry left = GroupRegistry.of(context, ExitTask.Stage.DEVICES);
        try {
            for (Communicator comm : comms) {
                GroupSpec group = GroupSpec.of(IN_ONE_PROCESS, ends.size(), devices.length, Deadlines.ofCalls(context));
                GroupOrigin position = GroupOrigin.unwatched(lanes.lane(ends.size(), context.background()), group);
                MemberRendezvous keys = new MemberRendezvous(ids, "nccl/" + IN_ONE_PROCESS, left, position);
                ends.add(new NcclJoin(group, context, OptionalLong.empty(), group.timeout()).assemble(comm, keys));
            }
            return ends;
        } catch (RuntimeException | Error failure) {
            // does not wait for the other ranks, because they will never join
            ends.forEach(end -> end.close(Duration.ZERO));
            comms.subList(ends.size(), comms.size()).forEach(Communicator::close);
            throw failure;
        }
    }

    private static void check(int[] devices) {
        if (devices.length == 0) {
            throw new IllegalArgumentException(
                    "createWorld of " + devices.length + " devices: name at least one, for example 0");
        }
        Set<Integer> seen = new HashSet<>();
        for (int device : devices) {
            if (!seen.add(device)) {
                throw new IllegalArgumentException("createWorld: device " + device + " appears twice among "
                        + devices.length + " devices: each rank needs a different device");
            }
        }
    }

    private static void checkExist(RankContext context, int[] devices) {
        int count = usableDevices(context);
        for (int device : devices) {
            if (device < 0 || device >= count) {
                throw new IllegalArgumentException(
                        "createWorld: no device " + device + ": there are " + count + ", numbered from 0");
            }
        }
    }

    static int usableDevices(RankContext context) {
        NcclAvailability here = NcclAvailability.look(context);
        if (here.unavailableBecause().isPresent()) {
            throw new FerroException(
                    Code.NATIVE,
                    Where.of("", -1),
                    "nccl cannot be used here: " + here.unavailableBecause().get());
        }
        return here.devices();
    }
}
