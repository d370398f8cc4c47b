package ferro.collectives.engine;

import ferro.Allocation;
import ferro.DataType;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.Medium;
import ferro.collectives.engine.OperationExecutor.SharedMemoryExecutor;
import ferro.collectives.plan.Hosts;
import ferro.collectives.shared.IntraNodeTransport;
import ferro.collectives.shared.NodeTopology;
import ferro.collectives.shared.SegmentLayout;
import ferro.collectives.shared.SharedTensors;
import ferro.collectives.shared.SharedTensors.SharedAllocation;
import ferro.control.failure.Failure;
import ferro.control.failure.FailureFactory;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.OnceRegistry;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import ferro.spi.SegmentSize;
import ferro.spi.SharedMemoryProvider;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.BitSet;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The ranks that share memory with this rank. This class finds the ranks that share memory, switches operations and
 * links to shared memory, and makes tensors in shared memory.
 */
public final class LocalPeers {
    /** Shortest timeout of a call, which applies even after the deadline, because a call refuses a timeout of zero. */
    private static final long LEAST_NANOS = 1_000_000;

    private static final long PAGE = 4096;

    private final GroupSpec group;
    private final RankContext context;
    /** Transport between the ranks of this host; null if this group cannot use shared memory. */
    private final IntraNodeTransport intraNode;

    private final SharedMemoryProvider provider;
    private final GroupLifecycle life;
    private final Medium links;

    private volatile NodeTopology topology;
    /** Tensors in shared memory; null before the first tensor is made. */
    private SharedTensors tensors;

    private boolean isClosed;
    /** Executor of operations in shared memory; null unless all ranks share memory. */
    private volatile SharedMemoryExecutor executor;

    /** Creates an object that has found no peer yet. */
    LocalPeers(GroupLifecycle life) {
        this.life = life;
        this.group = life.group;
        this.context = life.context;
        this.links = life.transport.medium();
        this.intraNode = life.transport instanceof IntraNodeTransport shares ? shares : null;
        this.provider = intraNode == null ? null : intraNode.sharedMemory().orElse(null);
        this.topology = NodeTopology.none(group.worldSize(), life.transport.noSharedMemoryBecause());
    }

    /** Returns each rank's segment size if all ranks are on one host; empty if so many ranks cannot share memory. */
    public static Optional<SegmentSize> segmentOf(int ranks) {
        if (ranks < 1) {
            throw new IllegalArgumentException("need at least one rank on a host, found " + ranks);
        }
        BitSet hosted = new BitSet();
        hosted.set(0, ranks);
        SegmentLayout layout = SegmentLayout.of(hosted, ranks, false);
        return layout.refusedBecause("host").isPresent() ? Optional.empty() : Optional.of(layout.size());
    }

    /**
     * Determines, together with the other ranks, which ranks share memory. The engine calls this method before the
     * first call of a user. If the exchange fails, closes the group and throws an exception, unless another rank has
     * aborted the group.
     */
    void meet(GroupEngine engine, boolean isJoined) {
        try {
            findOthers(engine, isJoined, isJoined ? untilJoined() : group::timeout);
        } catch (RuntimeException | Error failure) {
            if (!FailureFactory.isAbortOfAnother(group, life.control.failure())) {
                throw ended(engine, failure, isJoined);
            }
        }
    }

    /** Returns a supplier of timeouts for the calls of a join. All calls together have the timeout of the join. */
    private Supplier<Duration> untilJoined() {
        long end = context.nanoTime() + Deadlines.nanos(group.joinTimeout());
        return () -> Duration.ofNanos(Math.max(LEAST_NANOS, end - context.nanoTime()));
    }

    private FerroException ended(GroupEngine engine, Throwable failure, boolean isJoined) {
        // if the group had failed before, this exception is only a consequence of that failure
        Failure first = failure instanceof FerroException ? null : life.control.failure();
        String self = life.control.self();
        Throwable cause = first == null ? failure : FailureFactory.exception(group, self, first, life.control.ends());
        FerroException told = FailureFactory.notMet(group, self, cause, isJoined);
        life.control.fail(FailureFactory.failure(group, self, told));
        try {
            engine.close(Duration.ZERO);
        } catch (RuntimeException second) {
            told.addSuppressed(second);
        }
        return told;
    }

    private void findOthers(GroupEngine engine, boolean isJoined, Supplier<Duration> timeout) {
        if (provider != null) {
            SharedMemoryBootstrap meeting = new SharedMemoryBootstrap(engine, group, context, "", timeout);
            SegmentLayout layout =
                    SegmentLayout.of(meeting.hosted(provider), group.worldSize(), provider.isOneProcess());
            layout.refusedBecause(group.name()).ifPresent(meeting::refrain);
            SharedMemoryBootstrap.BootstrapOutcome met = meeting.hold(provider, layout.size());
            exclusively(new Runnable() {
                @Override
                public void run() {
                    share(layout, met);
                }
            });
            log(isJoined && layout.hasRings());
        }
    }

    private void exclusively(Runnable task) {
        life.loop.exclusively(task, context.nanoTime() + Long.MAX_VALUE / 2);
    }

    private void share(SegmentLayout layout, SharedMemoryBootstrap.BootstrapOutcome met) {
        topology = met.topology();
        Optional<Hosts> hosts = Hosts.of(topology.hostNumbers(), topology::areNear);
        if (hosts.isPresent()) {
            life.planner.spread(hosts.get());
        }
        if (met.memory() == null) {
            return;
        }
        intraNode.meet(met.memory(), layout, topology.near(group.rank()));
        life.messages.reopen();
        if (topology.isComplete()) {
            SharedMemoryExecutor made = new SharedMemoryExecutor(
                    group, layout, met.memory(), life.control, intraNode::wake, life.loop.spins());
            life.planner.share(layout);
            life.collectives.share(made);
            executor = made;
        }
    }

    /** Makes a tensor in memory that all ranks share, or else in memory of this rank. A failure fails the group. */
    public Allocation allocate(GroupEngine engine, DataType dataType, long elementCount, Duration timeout) {
        try {
            return allocated(engine, dataType, elementCount, timeout);
        } catch (FerroException failure) {
            life.control.fail(FailureFactory.failure(group, life.control.self(), failure));
            throw failure;
        }
    }

    private Allocation allocated(GroupEngine engine, DataType dataType, long elementCount, Duration timeout) {
        Objects.requireNonNull(dataType, "dataType");
        Objects.requireNonNull(timeout, "timeout");
        SharedMemoryExecutor runs = executor;
        if (runs == null || elementCount < 0) {
            return own(dataType, elementCount, topology);
        }
        exclusively(runs::sweep);
        String asked = "allocate " + dataType.label() + "[" + elementCount + "]";
        SharedMemoryBootstrap meeting = new SharedMemoryBootstrap(engine, group, context, asked, () -> timeout);
        long most = (Integer.MAX_VALUE - 2 * PAGE) / dataType.byteSize();
        if (elementCount == 0 || elementCount > most) {
            // the ranks also compare requests that cannot be shared, because these requests may differ
            meeting.refrain("an area has 1 to " + most + " elements, not " + elementCount);
        }
        long bytes = SharedAllocation.segmentBytes(elementCount * dataType.byteSize());
        SharedMemoryBootstrap.BootstrapOutcome met =
                meeting.hold(provider, SegmentSize.now((bytes + PAGE - 1) / PAGE * PAGE));
        if (!met.topology().isComplete()) {
            met.giveBack();
            return own(dataType, elementCount, met.topology());
        }
        Allocation[] made = new Allocation[1];
        exclusively(() -> made[0] = allocation(met, runs.tensors(), dataType, elementCount));
        return made[0];
    }

    /** Makes a tensor of memory that all ranks have mapped. The caller holds the progress lock. */
    private synchronized Allocation allocation(
            SharedMemoryBootstrap.BootstrapOutcome met, SharedTensors shared, DataType dataType, long elementCount) {
        if (isClosed) {
            met.giveBack();
            throw new IllegalStateException("group \"" + group.name() + "\" rank " + group.rank()
                    + " was closed during the allocation of a tensor");
        }
        tensors = shared;
        long bytes = elementCount * dataType.byteSize();
        SharedAllocation made = shared.add(met.memory(), group.rank(), group.worldSize(), bytes, met.lent());
        return Allocation.shared(HostTensor.of(dataType, met.lent()).slice(0, elementCount), made::letGo);
    }

    private Allocation own(DataType dataType, long elementCount, NodeTopology found) {
        String why = group.worldSize() == 1 ? "rank 0 is the only one of \"" + group.name() + "\"" : found.whyNot();
        return Allocation.own(HostTensor.allocate(dataType, elementCount), why);
    }

    /** Returns a text that says which ranks share memory, and why other ranks share no memory. */
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
            if (topology.near(rank).cardinality() > 1) {
                return links.with(links.text() + between + ", shared memory within hosts");
            }
        }
        return links.hasSeveralAddresses() ? links.with(links.text() + between) : links;
    }

    /**
     * Unmaps the segments of tensors. Memory that callers still use stays valid. The thread that makes progress calls
     * this method after the links have ended.
     */
    synchronized void close() {
        isClosed = true;
        if (tensors != null) {
            tensors.close();
        }
    }

    /**
     * Logs on rank 0 only which ranks share memory. A job logs each line once at info level. Subgroups, and other
     * joined groups with the same lines, log at debug level.
     */
    private void log(boolean isInfo) {
        if (group.rank() != 0) {
            return;
        }
        for (String line : topology.lines(links)) {
            boolean isNew = isInfo && OnceRegistry.isFirst(context, line);
            PlainLoggers.write(
                    "ferro.group", isNew ? Level.INFO : Level.DEBUG, "group \"" + group.name() + "\": " + line);
        }
    }
}
