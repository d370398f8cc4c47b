package ferro.collectives.engine.shm;

import ferro.collectives.engine.exec.SharedMemoryExecutor;
import ferro.collectives.shared.RingLayout;
import ferro.collectives.shared.SegmentLayout;
import ferro.collectives.shared.SegmentView;
import ferro.spi.GroupSpec;
import ferro.spi.LogLines;
import ferro.spi.OncePerContext;
import ferro.spi.RankContext;
import ferro.spi.SegmentSize;
import ferro.spi.SharedMemory;
import ferro.spi.Transport;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * What the ranks of a group share memory for, and how their segments are laid out; the same on all ranks of a host.
 *
 * @param group  the group
 * @param layout of the part that collectives use
 * @param rings  of the part that links use, behind it
 * @param ranks  how many ranks count as of one host
 */
record Sharing(GroupSpec group, SegmentLayout layout, RingLayout rings, int ranks) {
    /** Bytes of all segments of a group, without rings: with these, eight ranks fit in the 64 MiB that a container has. */
    private static final long BYTES_MOST = 25L << 20;

    private static final long SLOTS_OF_RANK_MOST = 3L << 20;
    private static final long SLOTS_OF_RANK_LEAST = 3L << 16;
    /** Smaller for threads of one process: they share a cache, and tests make groups of them by the thousand. */
    private static final long SLOTS_OF_THREAD = 3L << 17;

    private static final long PAGE = 4096;

    /** Lays out the segments of the ranks that count as of one host; there are slots only if all ranks of the group do. */
    static Sharing of(GroupSpec group, BitSet hosted, boolean isOneProcess) {
        int count = hosted.cardinality();
        long share = Math.max(SLOTS_OF_RANK_LEAST, Math.min(SLOTS_OF_RANK_MOST, BYTES_MOST / count));
        SegmentLayout layout =
                SegmentLayout.within(SegmentLayout.FIRST_SLOT + (isOneProcess ? SLOTS_OF_THREAD : share));
        int slots = count == group.worldSize() ? layout.end() : 0;
        // between threads, links copy from one caller's memory to the other's directly, which is better than any ring
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
                        + layout.ranksMost() + ": slots of " + layout.slotBytes() + " bytes have no room for more");
    }

    /** Returns the size of each segment; the slots take memory when the first call needs them. */
    SegmentSize size() {
        long bytes = (rings.end() + PAGE - 1) / PAGE * PAGE;
        return layout.end() <= bytes && hasSlots()
                ? SegmentSize.now(bytes).withLater(layout.slot(0), layout.end()).withRanks(ranks)
                : SegmentSize.now(bytes).withRanks(ranks);
    }

    private boolean hasSlots() {
        return ranks == group.worldSize();
    }

    /**
     * Makes the executor that runs operations over segments that all ranks have reached.
     *
     * @param spins how often to poll at once before yielding; 0 where ranks share cores, because a spinning rank would keep
     *     the others from their core
     */
    SharedMemoryExecutor executor(SharedMemory memory, Transport.Events events, IntConsumer wake, int spins) {
        ByteBuffer[] areas = new ByteBuffer[group.worldSize()];
        for (int rank = 0; rank < areas.length; rank++) {
            areas[rank] = memory.area(rank);
        }
        return new SharedMemoryExecutor(
                new SegmentView(group.rank(), layout, areas, events, wake, Math.max(1, spins), memory::reserve));
    }

    /**
     * Logs the lines on rank 0 only. A job logs each line once at info level; a group made of a joined one, and another
     * joined group with the same lines, log at debug level.
     */
    void report(boolean isJoined, List<String> lines, RankContext context) {
        if (group.rank() != 0) {
            return;
        }
        for (String line : lines) {
            boolean isNew = isJoined && rings.hasRings() && OncePerContext.isFirst(context, line);
            LogLines.write("ferro.group", isNew ? Level.INFO : Level.DEBUG, "group \"" + group.name() + "\": " + line);
        }
    }
}
