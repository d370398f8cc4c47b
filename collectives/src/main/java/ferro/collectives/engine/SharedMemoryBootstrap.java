package ferro.collectives.engine;

import ferro.CallOptions;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.Message;
import ferro.Work;
import ferro.collectives.shared.NodeTopology;
import ferro.spi.GroupSpec;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import ferro.spi.SegmentSize;
import ferro.spi.Settings;
import ferro.spi.SharedMemory;
import ferro.spi.SharedMemoryProvider;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The exchange by which the ranks of a new group determine which ranks share memory. Each rank offers its segment to
 * all ranks, tries to map the segments that other ranks offer, and reports to all ranks which segments it has mapped.
 * The exchange consists of a few all-gathers by messages around the ring, so that the exchange takes no sequence
 * numbers of collectives. After the exchange, all ranks have the same information.
 */
final class SharedMemoryBootstrap {
    /** A tag below 0, which no message of a user has. */
    private static final int TAG = -1;

    private static final int TEXT_BYTES = 512;
    private static final int HOST_BLOCK = Short.BYTES + TEXT_BYTES;
    private static final int OFFER_BLOCK = 3 * HOST_BLOCK + Short.BYTES + SharedMemory.OFFER_BYTES_MOST;

    private final GroupEngine engine;
    private final GroupSpec group;
    private final RankContext context;
    private final String request;
    private final Supplier<Duration> timeout;
    private final int worldSize;
    private String host = "";
    private String silentBecause = "";
    /** The segment of this rank for a tensor; null if the memory is not for a tensor. */
    private ByteBuffer lent;

    /**
     * The outcome of the exchange.
     *
     * @param memory   segments of the ranks that share memory with this rank; null if no other rank shares memory with
     *     this rank
     * @param lent     this rank's segment for a tensor of the caller; null for the group's own memory
     * @param topology which ranks share memory
     */
    record BootstrapOutcome(SharedMemory memory, ByteBuffer lent, NodeTopology topology) {
        /** Closes memory that will not be used. */
        void giveBack() {
            close(memory);
        }
    }

    /**
     * Creates an exchange that has not begun.
     *
     * @param request text of the requested memory, which must be the same on all ranks; empty for the group's own
     *     memory
     * @param timeout returns the time limit of the next message
     */
    SharedMemoryBootstrap(
            GroupEngine engine, GroupSpec group, RankContext context, String request, Supplier<Duration> timeout) {
        this.engine = engine;
        this.group = group;
        this.context = context;
        this.request = request;
        this.timeout = timeout;
        this.worldSize = group.worldSize();
    }

    /**
     * Exchanges the hosts of all ranks before any rank has made a segment, because only ranks of one host map the
     * segments of each other.
     *
     * @return the ranks that count as ranks of this rank's host, including this rank
     */
    BitSet hosted(SharedMemoryProvider provider) {
        BitSet hosted = new BitSet();
        if (provider.isOneProcess()) {
            hosted.set(0, worldSize);
            return hosted;
        }
        silentBecause = unavailableBecause(provider);
        host = silentBecause.isEmpty() ? provider.host(context) : "";
        ByteBuffer block = ByteBuffer.allocate(HOST_BLOCK);
        put(block, host);
        ByteBuffer[] told = aroundTheRing(block, HOST_BLOCK);
        for (int rank = 0; rank < worldSize; rank++) {
            hosted.set(rank, rank == group.rank() || !host.isEmpty() && told[rank].equals(told[group.rank()]));
        }
        return hosted;
    }

    /** Makes this rank offer no segment, and send the reason to the other ranks. */
    void refrain(String why) {
        silentBecause = silentBecause.isEmpty() ? why : silentBecause;
    }

    /** Runs the exchange with the other ranks. All other ranks must run the exchange too. */
    BootstrapOutcome hold(SharedMemoryProvider provider, SegmentSize size) {
        if (!request.isEmpty()) {
            refuseOtherSubjects();
        }
        SharedMemory memory = open(provider, size);
        try {
            BootstrapOutcome outcome = provider.isOneProcess() ? met(memory) : exchange(memory);
            if (request.isEmpty()) {
                refuseLinksWhereForbidden(outcome.topology);
            }
            return outcome;
        } catch (RuntimeException | Error failure) {
            close(memory);
            throw failure;
        }
    }

    private SharedMemory open(SharedMemoryProvider provider, SegmentSize size) {
        refrain(unavailableBecause(provider));
        if (!silentBecause.isEmpty()) {
            return null;
        }
        SharedMemory opened = null;
        try {
            GroupSpec needs = GroupSpec.of(group.name(), group.rank(), worldSize, timeout.get());
            opened = provider.open(needs, context, size);
            host = opened.host();
            lent = request.isEmpty() ? null : opened.lend();
            return opened;
        } catch (FerroException failure) {
            close(opened);
            if (failure.code() != Code.RESOURCE) {
                throw failure;
            }
            PlainLoggers.write("ferro.group", Level.WARNING, failure.getMessage());
            silentBecause = failure.getMessage();
            return null;
        }
    }

    private String unavailableBecause(SharedMemoryProvider provider) {
        return Settings.LINKS.of(context).equals("tcp")
                ? Settings.LINKS.name() + " is tcp"
                : provider.unavailableBecause(context).orElse("");
    }

    private static void close(SharedMemory memory) {
        if (memory != null) {
            memory.giveBack();
            memory.close();
        }
    }

    /** Returns the outcome for ranks of one process, which need no exchange. */
    private BootstrapOutcome met(SharedMemory memory) {
        if (memory == null) {
            return new BootstrapOutcome(null, null, NodeTopology.none(worldSize, silentBecause));
        }
        List<NodeTopology.RankReport> said = new ArrayList<>();
        BitSet all = new BitSet();
        all.set(0, worldSize);
        for (int rank = 0; rank < worldSize; rank++) {
            memory.reach(rank, memory.offer());
            said.add(new NodeTopology.RankReport(memory.host(), "", "", all, ""));
        }
        return new BootstrapOutcome(memory, lent, new NodeTopology(said));
    }

    private BootstrapOutcome exchange(SharedMemory memory) {
        ByteBuffer[] offers = aroundTheRing(offer(memory), OFFER_BLOCK);
        List<NodeTopology.RankReport> said = new ArrayList<>();
        BitSet mine = new BitSet();
        mine.set(group.rank());
        String failed = "";
        for (int rank = 0; rank < worldSize; rank++) {
            ByteBuffer offer = offers[rank];
            NodeTopology.RankReport offered =
                    new NodeTopology.RankReport(text(offer), text(offer), text(offer), new BitSet(), "");
            said.add(offered);
            if (memory != null
                    && rank != group.rank()
                    && offered.silentBecause().isEmpty()) {
                Optional<String> why = memory.reach(rank, bytes(offer));
                mine.set(rank, why.isEmpty());
                failed = failed.isEmpty() && offered.host().equals(host) ? why.orElse("") : failed;
            }
        }
        exchangeReached(said, mine, failed);
        NodeTopology topology = new NodeTopology(said);
        if (memory != null) {
            memory.settle();
        }
        boolean isAlone = topology.near(group.rank()).cardinality() == 1;
        if (isAlone) {
            close(memory);
        }
        return new BootstrapOutcome(isAlone ? null : memory, isAlone ? null : lent, topology);
    }

    /**
     * Checks, before memory is made, whether all ranks make the same request. All ranks get the same result of the
     * check.
     */
    private void refuseOtherSubjects() {
        ByteBuffer own = ByteBuffer.allocate(HOST_BLOCK);
        put(own, request);
        ByteBuffer[] told = aroundTheRing(own, HOST_BLOCK);
        String first = text(told[0]);
        for (int rank = 1; rank < worldSize; rank++) {
            String other = text(told[rank]);
            if (!other.equals(first)) {
                throw new FerroException(
                        Code.MISMATCH,
                        Where.of(group.name(), group.rank()).blaming(0, rank),
                        "ranks of \"" + group.name() + "\" request different memory: rank 0 " + first + ", rank " + rank
                                + " " + other + ": all ranks must make the same allocations in the same order");
            }
        }
    }

    private ByteBuffer offer(SharedMemory memory) {
        ByteBuffer block = ByteBuffer.allocate(OFFER_BLOCK);
        put(block, host);
        put(block, Settings.HOST.find(context).orElse(context.processes().host()));
        put(block, silentBecause);
        put(block, memory == null ? new byte[0] : memory.offer());
        return block;
    }

    /**
     * Reports to all ranks which segments this rank has mapped, and why other segments failed. Adds the reports of all
     * ranks.
     */
    private void exchangeReached(List<NodeTopology.RankReport> said, BitSet mine, String failed) {
        int bytes = (worldSize + Byte.SIZE - 1) / Byte.SIZE;
        int room = bytes + Short.BYTES + TEXT_BYTES;
        ByteBuffer block = ByteBuffer.allocate(room);
        block.put(mine.toByteArray()).position(bytes);
        put(block, failed);
        ByteBuffer[] blocks = aroundTheRing(block, room);
        for (int rank = 0; rank < worldSize; rank++) {
            BitSet reached = BitSet.valueOf(blocks[rank].duplicate().limit(bytes));
            blocks[rank].position(bytes);
            NodeTopology.RankReport offered = said.get(rank);
            said.set(
                    rank,
                    new NodeTopology.RankReport(
                            offered.host(), offered.name(), offered.silentBecause(), reached, text(blocks[rank])));
        }
    }

    /** Exchanges blocks with all ranks. Each rank forwards blocks from the previous to the next rank of the ring. */
    private ByteBuffer[] aroundTheRing(ByteBuffer own, int bytes) {
        byte[][] blocks = new byte[worldSize][bytes];
        System.arraycopy(own.array(), 0, blocks[group.rank()], 0, own.position());
        int behind = (group.rank() + 1) % worldSize;
        int before = (group.rank() + worldSize - 1) % worldSize;
        for (int round = 0; round < worldSize - 1; round++) {
            byte[] out = blocks[(group.rank() + worldSize - round) % worldSize];
            byte[] in = blocks[(before + worldSize - round) % worldSize];
            Work sent = engine.queued(Message.send(HostTensor.of(out), behind, TAG), options());
            engine.transfer(Message.recv(HostTensor.of(in), before, TAG), options());
            sent.await();
        }
        ByteBuffer[] received = new ByteBuffer[worldSize];
        for (int rank = 0; rank < worldSize; rank++) {
            received[rank] = ByteBuffer.wrap(blocks[rank]);
        }
        return received;
    }

    /** Returns options with a label that marks messages of ferro itself for readers of failures and recordings. */
    private CallOptions options() {
        return CallOptions.of(timeout.get()).labelled(request.isEmpty() ? "join" : "allocate");
    }

    /**
     * Throws an exception if links are forbidden but needed. All ranks have the same topology, so every rank that
     * forbids links throws the same exception.
     */
    private void refuseLinksWhereForbidden(NodeTopology topology) {
        if (Settings.LINKS.of(context).equals("shm") && !topology.isComplete()) {
            throw new FerroException(
                    Code.RESOURCE,
                    Where.of(group.name(), group.rank()),
                    Settings.LINKS.name() + " is shm, but not all ranks of \"" + group.name() + "\" share memory: "
                            + topology.whyNot() + ": use auto, with which the other ranks use TCP");
        }
    }

    private static void put(ByteBuffer block, String text) {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        put(block, Arrays.copyOf(encoded, Math.min(encoded.length, TEXT_BYTES)));
    }

    private static void put(ByteBuffer block, byte[] bytes) {
        block.putShort((short) bytes.length).put(bytes);
    }

    private static String text(ByteBuffer block) {
        return new String(bytes(block), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(ByteBuffer block) {
        byte[] bytes = new byte[Math.max(0, Math.min(block.remaining() - Short.BYTES, block.getShort()))];
        block.get(bytes);
        return bytes;
    }
}
