package ferro.collectives.engine.shm;

import ferro.Allocation;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.Medium;
import ferro.collectives.engine.exec.OperationQueue;
import ferro.collectives.engine.exec.Planner;
import ferro.collectives.engine.exec.SharedMemoryExecutor;
import ferro.collectives.engine.operands.Allocations;
import ferro.collectives.engine.p2p.PointToPoint;
import ferro.collectives.engine.progress.ProgressLoop;
import ferro.collectives.plan.Hosts;
import ferro.collectives.shared.IntraNodeTransport;
import ferro.collectives.shared.NodeTopology;
import ferro.control.failure.Failures;
import ferro.control.group.GroupControl;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.SegmentSize;
import ferro.spi.SharedMemoryProvider;
import ferro.spi.Transport;
import java.time.Duration;
import java.util.BitSet;
import java.util.Objects;
import java.util.Optional;

/**
 * The ranks that share memory with this one: finds them, switches operations and links to shared memory, and makes tensors
 * in it.
 */
public final class LocalPeers {
    private final GroupSpec group;
    private final RankContext context;
    /** Null where there is no shared memory. */
    private final IntraNodeTransport intraNode;

    private final SharedMemoryProvider provider;
    private final Users users;
    private final Allocations allocations;
    /** The medium of the links. */
    private final Medium links;

    private volatile NodeTopology topology;
    /** Null unless all ranks share memory. */
    private volatile SharedMemoryExecutor executor;

    /**
     * The parts that move elements, and can do so in shared memory.
     *
     * @param loop         holds the progress lock while that changes
     * @param control      is told of calls that differ
     * @param planner      chooses for operations
     * @param operations   run there
     * @param pointToPoint moves messages
     */
    public record Users(
            ProgressLoop loop,
            GroupControl control,
            Planner planner,
            OperationQueue operations,
            PointToPoint pointToPoint) {}

    /** Makes one that knows no peer yet. */
    public LocalPeers(GroupSpec group, RankContext context, Transport transport, Users users) {
        this.group = group;
        this.context = context;
        this.links = transport.medium();
        this.intraNode = transport instanceof IntraNodeTransport shares ? shares : null;
        this.provider = intraNode == null ? null : intraNode.sharedMemory().orElse(null);
        this.users = users;
        this.allocations = new Allocations(group);
        this.topology = NodeTopology.none(group.worldSize(), transport.noSharedMemoryBecause());
    }

    /** Returns the segment of each rank of a group whose ranks are all on one host; empty if so many cannot share. */
    public static Optional<SegmentSize> segmentOf(int ranks) {
        BitSet hosted = new BitSet();
        hosted.set(0, ranks);
        Sharing sharing = Sharing.of(GroupSpec.of("host", 0, ranks, Duration.ofSeconds(1)), hosted, false);
        return sharing.refusedBecause().isPresent() ? Optional.empty() : Optional.of(sharing.size());
    }

    /** Finds out together with the other ranks which ranks share memory, before the group is used. */
    public void meet(CollectiveBackend engine, boolean isJoined, BootstrapDeadline deadline) {
        if (provider != null) {
            SharedMemoryBootstrap.BootstrapSubject subject =
                    new SharedMemoryBootstrap.BootstrapSubject("", deadline::left);
            SharedMemoryBootstrap meeting = new SharedMemoryBootstrap(engine, group, context, subject);
            Sharing sharing = Sharing.of(group, meeting.hosted(provider), provider.isOneProcess());
            Optional<String> refused = sharing.refusedBecause();
            if (refused.isPresent()) {
                meeting.refrain(refused.get());
            }
            SharedMemoryBootstrap.BootstrapOutcome met = meeting.hold(provider, sharing.size());
            exclusively(new Runnable() {
                @Override
                public void run() {
                    share(sharing, met);
                }
            });
            sharing.report(isJoined, topology.lines(links), context);
        }
    }

    private void exclusively(Runnable task) {
        users.loop.exclusively(task, context.nanoTime() + Long.MAX_VALUE / 2);
    }

    private void share(Sharing sharing, SharedMemoryBootstrap.BootstrapOutcome met) {
        topology = met.topology();
        Optional<Hosts> hosts = Hosts.of(topology.hostNumbers(), topology::areNear);
        if (hosts.isPresent()) {
            users.planner.spread(hosts.get());
        }
        if (met.memory() == null) {
            return;
        }
        intraNode.meet(met.memory(), sharing.rings(), topology.nearTo(group.rank()));
        users.pointToPoint.reopen();
        if (topology.isComplete()) {
            SharedMemoryExecutor made =
                    sharing.executor(met.memory(), users.control, intraNode::wake, users.loop.spins());
            users.planner.share(sharing.layout());
            users.operations.share(made);
            executor = made;
        }
    }

    /** Makes a tensor in memory that all ranks share, or else in memory of this rank alone; a failure fails the group. */
    public Allocation allocate(CollectiveBackend engine, DataType dataType, long elementCount, Duration timeout) {
        try {
            return allocated(engine, dataType, elementCount, timeout);
        } catch (FerroException failure) {
            users.control.fail(Failures.failure(group, users.control.self(), failure));
            throw failure;
        }
    }

    private Allocation allocated(CollectiveBackend engine, DataType dataType, long elementCount, Duration timeout) {
        Objects.requireNonNull(dataType, "dataType");
        Objects.requireNonNull(timeout, "timeout");
        SharedMemoryExecutor runs = executor;
        if (runs == null || elementCount < 0) {
            return own(dataType, elementCount, topology);
        }
        exclusively(runs::sweep);
        SharedMemoryBootstrap.BootstrapSubject subject =
                new SharedMemoryBootstrap.BootstrapSubject(Allocations.text(dataType, elementCount), () -> timeout);
        SharedMemoryBootstrap meeting = new SharedMemoryBootstrap(engine, group, context, subject);
        Allocations.refusedBecause(dataType, elementCount).ifPresent(meeting::refrain);
        SharedMemoryBootstrap.BootstrapOutcome met = meeting.hold(provider, Allocations.size(dataType, elementCount));
        if (!met.topology().isComplete()) {
            met.giveBack();
            return own(dataType, elementCount, met.topology());
        }
        Allocation[] made = new Allocation[1];
        exclusively(() ->
                made[0] = allocations.allocation(met.memory(), met.lent(), runs.tensors(), dataType, elementCount));
        return made[0];
    }

    private Allocation own(DataType dataType, long elementCount, NodeTopology found) {
        String why = group.worldSize() == 1 ? "rank 0 is the only one of \"" + group.name() + "\"" : found.whyNot();
        return Allocation.own(HostTensor.allocate(dataType, elementCount), why);
    }

    /** Returns for people which ranks share memory, and why others do not. */
    public String report() {
        return String.join("; ", topology.lines(links));
    }

    /** Returns the medium that carries the data of the whole group. */
    public Medium medium() {
        if (provider != null && topology.isComplete()) {
            return links.with(provider.isOneProcess() ? "memory of one process" : "shared memory");
        }
        String between = links.far() ? " between far hosts" : " between hosts";
        for (int rank = 0; rank < group.worldSize(); rank++) {
            if (topology.isNearAnother(rank)) {
                return links.with(links.text() + between + ", shared memory within hosts");
            }
        }
        return links.hasSeveralAddresses() ? links.with(links.text() + between) : links;
    }

    /** Unmaps the segments of tensors; called by the thread that makes progress, with the links ended. */
    public void close() {
        allocations.close();
    }
}
