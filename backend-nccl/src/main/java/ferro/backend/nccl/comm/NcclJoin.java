package ferro.backend.nccl.comm;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.nccl.comm.MemberResources.MemberRendezvous;
import ferro.backend.nccl.device.CudaStream;
import ferro.backend.nccl.memory.CudaMemory;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.GroupOrigin;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.backend.nccl.queue.StreamFactory;
import ferro.control.group.GroupRegistry;
import ferro.control.group.InProcessControlLanes;
import ferro.dispatch.DeviceMemory;
import ferro.spi.ControlLane;
import ferro.spi.ControlLaneProvider;
import ferro.spi.ExitTask;
import ferro.spi.GroupSpec;
import ferro.spi.JoinProgressPrinter;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import ferro.spi.ServiceErrors;
import ferro.spi.Services;
import ferro.spi.Settings;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * One join with one deadline, from the choice of a device to a working back end. A join that fails frees everything
 * that it has created.
 */
final class NcclJoin {
    private static final Logger LOG = PlainLoggers.logger("ferro.backend.nccl");

    /**
     * A value that is never stored. A compare-and-set that expects this value reads a key without waiting for the key.
     */
    private static final byte[] NEVER = ("never " + UUID.randomUUID()).getBytes(StandardCharsets.UTF_8);

    private final GroupSpec group;
    private final RankContext context;
    private final OptionalLong callersStream;
    private final Deadline deadline;

    /**
     * Prepares a join.
     *
     * @param group         name, rank and world size
     * @param context       settings and store
     * @param callersStream handle of the caller's stream; empty if the group creates a stream
     * @param bound         time from now to the deadline of the join
     */
    NcclJoin(GroupSpec group, RankContext context, OptionalLong callersStream, Duration bound) {
        this.group = group;
        this.context = context;
        this.callersStream = callersStream;
        this.deadline = Deadline.after(bound, context::nanoTime);
    }

    JnaNcclBackend join() {
        int device = DeviceSelector.of(group, context, NcclWorld.usableDevices(context));
        if (group.worldSize() == 1) {
            GroupOrigin position =
                    GroupOrigin.unwatched(new InProcessControlLanes(1).lane(0, context.background()), group);
            return join(device, keys(IdExchange.local(), group.name(), position));
        }
        try {
            return joinOthers(device);
        } catch (RuntimeException | Error failure) {
            context.releaseStore();
            throw failure;
        }
    }

    private MemberRendezvous keys(IdExchange ids, String base, GroupOrigin position) {
        return new MemberRendezvous(ids, base, GroupRegistry.of(context, ExitTask.Stage.DEVICES), position);
    }

    private JnaNcclBackend joinOthers(int device) {
        Store store = context.store();
        String name = "nccl/" + Settings.JOB_ID.of(context) + "/" + group.name();
        // the same group may be joined again over the same store: each rank counts its joins, and all ranks get the
        // same count
        long attempt = store.add(name + "/joins/" + group.rank(), 1);
        GroupSpec timed = group.withJoinTimeout(Duration.ofNanos(Math.max(1, deadline.remainingNanos())));
        Optional<ControlLane> lent = context.find(ControlLane.class);
        GroupOrigin position = lent.isPresent() ? GroupOrigin.unwatched(lent.get(), timed) : connected(timed);
        try {
            // if this join has opened its own control lane, the close of the lane also releases the store
            boolean isOwn = lent.isEmpty() && position.isConnected();
            IdExchange ids = IdExchange.of(store, isOwn ? () -> {} : context::releaseStore);
            return join(device, keys(ids, name + "/" + attempt, position));
        } catch (FerroException failure) {
            position.lane().close();
            throw naming(missing(store, name, attempt), failure);
        } catch (RuntimeException | Error failure) {
            position.lane().close();
            throw failure;
        }
    }

    /**
     * Connects this rank to the other ranks by a new control lane. If no provider of control lanes is usable, the ranks
     * cannot notify each other, and a warning is logged.
     */
    private GroupOrigin connected(GroupSpec timed) {
        ServiceErrors broken = new ServiceErrors();
        StringBuilder why = new StringBuilder();
        Optional<ControlLane> opened = Services.first(
                Services.of(ControlLaneProvider.class),
                provider -> {
                    Optional<String> reason = provider.unavailableBecause(context);
                    reason.ifPresent(text -> why.append("; ").append(text));
                    return reason.isPresent() ? Optional.empty() : Optional.of(provider.open(timed, context));
                },
                broken::add);
        if (opened.isPresent()) {
            return GroupOrigin.joined(opened.get(), timed, context);
        }
        LOG.log(
                Level.WARNING,
                "group \"" + group.name() + "\" rank " + group.rank() + ": no control messages between the ranks" + why
                        + ": a rank that fails, ends or makes another call is known to the others only by their own"
                        + " deadlines: add ferro to the class path",
                broken.cause());
        // a control lane whose messages no rank receives
        InProcessControlLanes lanes = new InProcessControlLanes(group.worldSize());
        for (int rank = 0; rank < group.worldSize(); rank++) {
            if (rank != group.rank()) {
                lanes.lane(rank, context.background()).close();
            }
        }
        return GroupOrigin.unconnected(lanes.lane(group.rank(), context.background()), timed);
    }

    private JnaNcclBackend join(int device, MemberRendezvous keys) {
        return assemble(
                group.worldSize() == 1 ? joined(device, keys, waits -> {}) : joinedWithLines(device, keys), keys);
    }

    /** Joins the communicator. Prints lines while this rank waits for the other ranks. */
    private Communicator joinedWithLines(int device, MemberRendezvous keys) {
        AtomicReference<String> waitsFor = new AtomicReference<>("");
        JoinProgressPrinter.PhasePrinter lines =
                JoinProgressPrinter.resume(group.name(), context).waiting(waitsFor::get);
        try {
            return joined(device, keys, waitsFor::set);
        } finally {
            lines.close();
        }
    }

    /** Joins the communicator; {@code waits} receives a text about what this rank waits for. */
    private Communicator joined(int device, MemberRendezvous keys, Consumer<String> waits) {
        CommFactory factory = CommFactory.of(context);
        String rank = "rank " + group.rank() + " of \"" + group.name() + "\" waits for ";
        if (group.rank() != 0) {
            waits.accept(rank + "rank 0, which names the communicator of nccl");
        }
        NcclUniqueId id = keys.ids().meet(keys.base() + "/id", group.rank() == 0, deadline);
        waits.accept(rank + "all " + group.worldSize() + " ranks to reach the communicator of nccl");
        return factory.rank(new CommIdentity(group.name(), group.rank(), group.worldSize(), device), id, deadline);
    }

    /** Returns the ranks that have not begun to join; empty if the store does not answer. */
    private List<Integer> missing(Store store, String name, long attempt) {
        List<Integer> missing = new ArrayList<>();
        try {
            for (int rank = 0; rank < group.worldSize(); rank++) {
                byte[] joins = store.compareAndSet(name + "/joins/" + rank, NEVER, NEVER);
                if (joins == null || Long.parseLong(new String(joins, StandardCharsets.US_ASCII)) < attempt) {
                    missing.add(rank);
                }
            }
        } catch (RuntimeException gone) {
            return List.of();
        }
        return missing;
    }

    private FerroException naming(List<Integer> missing, FerroException failure) {
        if (failure.code() != Code.TIMED_OUT && failure.code() != Code.RENDEZVOUS) {
            return failure;
        }
        String whom = missing.isEmpty()
                ? "all ranks began to join, but not all reached the communicator"
                : "rank " + missing.stream().map(String::valueOf).collect(Collectors.joining(",")) + " of "
                        + group.worldSize() + " has not begun to join";
        return new FerroException(
                failure.code(),
                Where.of(group.name(), group.rank()).blaming(missing),
                "joining \"" + group.name() + "\" as rank " + group.rank() + " by nccl failed: " + whom + " within "
                        + deadline.lengthMillis()
                        + " ms; check that all ranks run (ferro.join.timeout sets the limit): "
                        + failure.getMessage(),
                failure);
    }

    /**
     * Creates the back end for a communicator, with stream, memory and queue. If this fails, closes the communicator.
     */
    JnaNcclBackend assemble(Communicator comm, MemberRendezvous keys) {
        boolean shared = false;
        try {
            CudaStream stream = stream(comm);
            DeviceMemory memory = context.shared(DeviceMemory.class, () -> CudaMemory.open(context));
            shared = true;
            int downgrades = callersStream.isEmpty() && !stream.owned() ? 1 : 0;
            MemberResources member =
                    new MemberResources(context, comm, stream, downgrades, memory, keys, group.timeout());
            JnaNcclBackend end = new JnaNcclBackend(member);
            end.opened();
            return end;
        } catch (RuntimeException | Error failure) {
            comm.close();
            if (shared) {
                context.release(DeviceMemory.class);
            }
            throw failure;
        }
    }

    private CudaStream stream(Communicator comm) {
        int device = comm.identity().device();
        try {
            return comm.thread()
                    .call(
                            () -> comm.own(
                                    callersStream.isEmpty()
                                            ? StreamFactory.orDefault(device)
                                            : CudaStream.ofCaller(callersStream.getAsLong(), device)),
                            deadline);
        } catch (TimeoutException late) {
            throw failure(comm, Code.TIMED_OUT, late);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw failure(comm, Code.INTERRUPTED, interrupted);
        }
    }

    private static FerroException failure(Communicator comm, Code code, Exception cause) {
        CommIdentity identity = comm.identity();
        return new FerroException(
                code,
                identity.where(NcclOperation.PREPARE, 0),
                identity.during(NcclOperation.PREPARE) + ": no stream: " + cause.getMessage(),
                cause);
    }
}
