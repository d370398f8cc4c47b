package ferro.collectives;

import ferro.collectives.shared.AreaLayout;
import ferro.collectives.shared.RingLayout;
import ferro.collectives.shared.SharedMachine.Place;
import ferro.spi.GroupSpec;
import ferro.spi.SharedMemory;
import ferro.spi.Transport;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * What the ranks of a group share memory for, and where it lies in their areas; the same on all ranks of a host.
 *
 * @param group  who
 * @param layout of what collectives use
 * @param rings  of what links use, behind it
 * @param ranks  how many count as of one host
 */
record Sharing(GroupSpec group, AreaLayout layout, RingLayout rings, int ranks) {
    private static final System.Logger LOG = System.getLogger("ferro.group");
    /** Of all areas of a group, rings not counted: with these, eight ranks fit in the 64 MiB that a container has. */
    private static final long BYTES_MOST = 25L << 20;

    private static final long SLOTS_OF_RANK_MOST = 3L << 20;
    private static final long SLOTS_OF_RANK_LEAST = 3L << 16;
    /** Threads of one process share a cache, and groups of them are made by the thousand in tests. */
    private static final long SLOTS_OF_THREAD = 3L << 17;

    private static final long PAGE = 4096;

    /** Lays out the areas of the ranks that count as of one host; slots serve only a group of which all ranks do. */
    static Sharing of(GroupSpec group, BitSet hosted, boolean isOneProcess) {
        int count = hosted.cardinality();
        long share = Math.max(SLOTS_OF_RANK_LEAST, Math.min(SLOTS_OF_RANK_MOST, BYTES_MOST / count));
        AreaLayout layout = AreaLayout.within(PAGE + (isOneProcess ? SLOTS_OF_THREAD : share));
        int slots = count == group.worldSize() ? layout.end() : 0;
        // between threads, links copy from one caller's memory to the other's, which no ring can better
        return new Sharing(group, layout, new RingLayout(hosted, slots, !isOneProcess), count);
    }

    /** Returns why these ranks cannot share; empty if they can. */
    Optional<String> refusedBecause() {
        if (ranks == 1) {
            return Optional.of("no other rank of \"" + group.name() + "\" is on its host");
        }
        return ranks <= layout.ranksMost()
                ? Optional.empty()
                : Optional.of(ranks + " ranks of \"" + group.name() + "\" are on one host, need at most "
                        + layout.ranksMost() + ", which slots of " + layout.slotBytes() + " bytes have lines for");
    }

    long areaBytes() {
        return (rings.end() + PAGE - 1) / PAGE * PAGE;
    }

    /**
     * Makes what runs operations over areas that all ranks have reached.
     *
     * @param spins how often to look at once before giving way; 0 where ranks share cores, whom waiting would keep from them
     */
    SharedMemoryExecutor executor(SharedMemory memory, Transport.Events events, IntConsumer wake, int spins) {
        ByteBuffer[] areas = new ByteBuffer[group.worldSize()];
        for (int rank = 0; rank < areas.length; rank++) {
            areas[rank] = memory.area(rank);
        }
        return new SharedMemoryExecutor(new Place(group.rank(), layout, areas, events, wake, Math.max(1, spins)));
    }

    /** Has one rank say it, once per job: of groups made of a joined one only who looks for it wants to hear. */
    void report(boolean isJoined, List<String> lines) {
        Level level = isJoined && rings.hasRings() ? Level.INFO : Level.DEBUG;
        if (group.rank() == 0) {
            lines.forEach(line -> LOG.log(level, "group \"" + group.name() + "\": " + line));
        }
    }
}
