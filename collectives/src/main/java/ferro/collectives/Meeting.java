package ferro.collectives;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.Work;
import ferro.collectives.shared.Nearness;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import ferro.spi.SharedMemory;
import ferro.spi.SharedMemoryProvider;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

/**
 * How the ranks of a new group find out who shares memory with whom: each offers its own area to all, tries what the others
 * offer, and tells all what it could reach. Two all-gathers by messages around the ring, so that operations keep their
 * numbers; after them all ranks know the same.
 */
final class Meeting {
    private static final System.Logger LOG = System.getLogger("ferro.group");
    /** Below 0, where no user's message is. */
    private static final int TAG = -1;

    private static final int TEXT_BYTES = 512;
    private static final int OFFER_BLOCK = 2 * (Short.BYTES + TEXT_BYTES) + Short.BYTES + SharedMemory.OFFER_BYTES_MOST;

    private final GroupEngine engine;
    private final GroupSpec group;
    private final RankContext context;
    private final int worldSize;
    private final String[][] reasons;
    private String silentBecause = "";

    /**
     * What came of it.
     *
     * @param memory   areas of the ranks that are near; null if there is none
     * @param nearness who is near whom
     */
    record Outcome(SharedMemory memory, Nearness nearness) {}

    Meeting(GroupEngine engine, GroupSpec group, RankContext context) {
        this.engine = engine;
        this.group = group;
        this.context = context;
        this.worldSize = group.worldSize();
        this.reasons = new String[worldSize][worldSize];
    }

    /** Meets the other ranks, all of which must do so too. */
    Outcome hold(SharedMemoryProvider provider, long areaBytes) {
        SharedMemory memory = open(provider, areaBytes);
        try {
            Outcome outcome = provider.isOneProcess() ? met(memory) : exchange(memory);
            refuseLinksWhereForbidden(outcome.nearness);
            return outcome;
        } catch (RuntimeException | Error failure) {
            close(memory);
            throw failure;
        }
    }

    private SharedMemory open(SharedMemoryProvider provider, long areaBytes) {
        if (Settings.LINKS.of(context).equals("tcp")) {
            silentBecause = Settings.LINKS.name() + " is tcp";
            return null;
        }
        Optional<String> unavailable = provider.unavailableBecause(context);
        if (unavailable.isPresent()) {
            silentBecause = unavailable.get();
            return null;
        }
        try {
            return provider.open(group, context, areaBytes);
        } catch (FerroException failure) {
            if (failure.code() != Code.RESOURCE) {
                throw failure;
            }
            LOG.log(Level.WARNING, failure.getMessage());
            silentBecause = failure.getMessage();
            return null;
        }
    }

    private static void close(SharedMemory memory) {
        if (memory != null) {
            memory.close();
        }
    }

    /** Where all ranks are of one process there is nothing to find out. */
    private Outcome met(SharedMemory memory) {
        if (memory == null) {
            return new Outcome(null, Nearness.none(worldSize, silentBecause));
        }
        List<String> hosts = new ArrayList<>();
        List<BitSet> reached = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            memory.reach(rank, memory.offer());
            hosts.add(memory.host());
            BitSet all = new BitSet();
            all.set(0, worldSize);
            reached.add(all);
        }
        return new Outcome(memory, new Nearness(hosts, reached, reasons));
    }

    private Outcome exchange(SharedMemory memory) {
        ByteBuffer[] offers = aroundTheRing(offer(memory), OFFER_BLOCK);
        List<String> hosts = new ArrayList<>();
        BitSet mine = new BitSet();
        String failed = "";
        for (int rank = 0; rank < worldSize; rank++) {
            hosts.add(text(offers[rank]));
            String silent = text(offers[rank]);
            byte[] offered = bytes(offers[rank]);
            if (!silent.isEmpty()) {
                Arrays.fill(reasons[rank], "rank " + rank + " offers none: " + silent);
            } else if (memory != null && rank != group.rank()) {
                Optional<String> why = memory.reach(rank, offered);
                mine.set(rank, why.isEmpty());
                failed = failed.isEmpty() ? why.orElse("") : failed;
            }
        }
        List<BitSet> reached = told(hosts, mine, failed);
        if (memory != null) {
            memory.settle();
        }
        Nearness nearness = new Nearness(hosts, reached, reasons);
        boolean isAlone = mine.stream().noneMatch(rank -> nearness.areNear(group.rank(), rank));
        if (isAlone) {
            close(memory);
        }
        return new Outcome(isAlone ? null : memory, nearness);
    }

    private ByteBuffer offer(SharedMemory memory) {
        ByteBuffer block = ByteBuffer.allocate(OFFER_BLOCK);
        put(block, memory == null ? "" : memory.host());
        put(block, silentBecause);
        put(block, memory == null ? new byte[0] : memory.offer());
        return block;
    }

    /** Tells all what this rank has reached, and returns what each has. */
    private List<BitSet> told(List<String> hosts, BitSet mine, String failed) {
        int bytes = (worldSize + Byte.SIZE - 1) / Byte.SIZE;
        int room = bytes + Short.BYTES + TEXT_BYTES;
        ByteBuffer block = ByteBuffer.allocate(room);
        block.put(mine.toByteArray()).position(bytes);
        put(block, failed);
        ByteBuffer[] blocks = aroundTheRing(block, room);
        List<BitSet> reached = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            BitSet those = BitSet.valueOf(blocks[rank].duplicate().limit(bytes));
            blocks[rank].position(bytes);
            explain(rank, those, hosts, text(blocks[rank]));
            reached.add(those);
        }
        return reached;
    }

    /** Notes why a rank has not reached others, unless those have said that they offer nothing. */
    private void explain(int rank, BitSet those, List<String> hosts, String failed) {
        for (int other = 0; other < worldSize; other++) {
            if (other != rank && !those.get(other) && reasons[other][rank] == null && reasons[rank][other] == null) {
                reasons[rank][other] = hosts.get(rank).equals(hosts.get(other))
                        ? "rank " + rank + " says: " + failed
                        : "hosts are (" + hosts.get(rank) + ") and (" + hosts.get(other) + ")";
            }
        }
    }

    /** Gives this rank's block to all and takes theirs: what came from the rank before goes on to the rank behind. */
    private ByteBuffer[] aroundTheRing(ByteBuffer own, int bytes) {
        byte[][] blocks = new byte[worldSize][bytes];
        System.arraycopy(own.array(), 0, blocks[group.rank()], 0, own.position());
        int behind = (group.rank() + 1) % worldSize;
        int before = (group.rank() + worldSize - 1) % worldSize;
        for (int round = 0; round < worldSize - 1; round++) {
            byte[] out = blocks[(group.rank() + worldSize - round) % worldSize];
            byte[] in = blocks[(before + worldSize - round) % worldSize];
            Work sent = engine.send(HostTensor.of(out), behind, TAG, group.timeout());
            engine.recv(HostTensor.of(in), before, TAG, group.timeout()).await();
            sent.await();
        }
        return Arrays.stream(blocks).map(ByteBuffer::wrap).toArray(ByteBuffer[]::new);
    }

    /** All ranks know the same, so that all for which links are forbidden fail alike. */
    private void refuseLinksWhereForbidden(Nearness nearness) {
        if (Settings.LINKS.of(context).equals("shm") && !nearness.isComplete()) {
            throw new FerroException(
                    Code.RESOURCE,
                    Where.outside(group.name(), group.rank()),
                    Settings.LINKS.name() + " is shm, and not all ranks of \"" + group.name() + "\" share memory: "
                            + nearness + ": with auto the others use TCP");
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
