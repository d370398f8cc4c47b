package ferro.examples.files;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Medium;
import ferro.collectives.CollectiveEngine;
import ferro.collectives.MessageStream;
import ferro.collectives.StagedLink;
import ferro.spi.GroupSpec;
import ferro.spi.Link;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The transport of one rank in a group whose ranks map one file. The file has the number of ranks that have closed it,
 * and a word per rank that says whether that rank has left. From each rank to each rank the file has three
 * {@link RingEnd}s: one for each of the two lanes and one for control messages.
 *
 * <p>A file of zeros is the initial state, so the first rank that opens the file creates it. Data for a rank that has
 * not opened the file wait in the rings. The last rank that closes the file removes it. The engine watches the
 * processes of this host. A group has at most 147 ranks, because a buffer cannot hold the file of a larger group.
 */
public final class FileTransport implements Transport {
    private static final long BACKOFF_MIN_NANOS = 50_000;
    private static final long BACKOFF_MAX_NANOS = 1_000_000;
    private static final int CONTROL = Lane.values().length;

    private final Path file;
    private final GroupSpec spec;
    private final RankContext context;
    private final ByteBuffer memory;
    private final StagedLink.Staging staging;
    private final List<MessageStream> messages = new ArrayList<>();
    private volatile Events events;
    private volatile Thread parked;
    private volatile boolean closed;
    private boolean dropped;
    private long backoffNanos = BACKOFF_MIN_NANOS;
    /** The links that were requested, by peer and lane. */
    private final Map<Integer, StagedLink> links = new HashMap<>();

    FileTransport(Path file, GroupSpec spec, RankContext context) {
        this.file = file;
        this.spec = spec;
        this.context = context;
        this.staging = new StagedLink.Staging(RingEnd.BYTES, worldSize());
        long bytes = (1 + 1L * worldSize() * worldSize() * (CONTROL + 1)) * RingEnd.BYTES;
        try (FileChannel channel = FileChannel.open(file, CREATE, READ, WRITE)) {
            memory = channel.map(MapMode.READ_WRITE, 0, bytes).order(ByteOrder.nativeOrder());
        } catch (IOException unable) {
            throw new UncheckedIOException("cannot map " + file + " for " + worldSize() + " ranks", unable);
        }
        for (int peer = 0; peer < worldSize(); peer++) {
            messages.add(new MessageStream(ring(rank(), peer, CONTROL), ring(peer, rank(), CONTROL)));
        }
    }

    /**
     * Joins a job. Does not wait for the other ranks.
     *
     * @param folder  folder that only this job uses, the same on all its ranks
     * @param spec    rank and group
     * @param context settings, clock, timers
     * @return back end with every collective
     * @throws IllegalArgumentException if a setting is invalid, or there are too many ranks
     * @throws UncheckedIOException     if the file cannot be made in the folder
     */
    public static CollectiveBackend join(Path folder, GroupSpec spec, RankContext context) {
        CollectiveEngine.check(context);
        return CollectiveEngine.over(new FileTransport(folder.resolve("world"), spec, context), spec, context);
    }

    private RingEnd ring(int from, int to, int kind) {
        int index = 1 + (from * worldSize() + to) * (CONTROL + 1) + kind;
        return new RingEnd(memory.slice(index * RingEnd.BYTES, RingEnd.BYTES).order(ByteOrder.nativeOrder()));
    }

    @Override
    public int rank() {
        return spec.rank();
    }

    @Override
    public int worldSize() {
        return spec.worldSize();
    }

    @Override
    public Medium medium() {
        return new Medium("mapped files", List.of());
    }

    @Override
    public Transport subgroup(int[] ranks, long group) {
        int own = Arrays.stream(ranks).boxed().toList().indexOf(rank());
        GroupSpec part = GroupSpec.of(spec.name(), own, ranks.length, spec.timeout());
        return new FileTransport(file.resolveSibling(Long.toHexString(group)), part, context);
    }

    @Override
    public Link link(int peer, Lane lane) {
        return links.computeIfAbsent(peer * CONTROL + lane.ordinal(), key -> {
            RingEnd outgoing = ring(rank(), peer, lane.ordinal());
            StagedLink link = new StagedLink(peer, outgoing, ring(peer, rank(), lane.ordinal()), staging, events);
            if (dropped) {
                link.drop();
            }
            return link;
        });
    }

    @Override
    public boolean poll() {
        boolean moved = false;
        for (Map.Entry<Integer, StagedLink> each : links.entrySet()) {
            moved |= move(each.getKey() / CONTROL, each.getKey() % CONTROL, each.getValue());
        }
        backoffNanos = moved ? BACKOFF_MIN_NANOS : backoffNanos;
        return moved;
    }

    private boolean move(int peer, int lane, StagedLink link) {
        // read before the rings are polled, so that all data that a peer sent before it left are received
        boolean peerHasLeft = (long) RingEnd.WORD.getAcquire(memory, (1 + peer) * Long.BYTES) != 0;
        boolean moved = link.move();
        if (peerHasLeft && !moved && link.isBusy()) {
            long waitsFor = lane == Lane.COLLECTIVE.ordinal() ? link.waitsFor() : -1;
            String text = " lost rank " + peer + ", which has left, " + link.progress();
            link.drop();
            broken(peer, waitsFor, Code.PEER_LOST, text);
        }
        return moved;
    }

    private void broken(int peer, long sequence, Code code, String text) {
        Where where = Where.of(spec.name(), rank()).blaming(peer);
        String what = "rank " + rank() + " of \"" + spec.name() + "\"" + text;
        events.broken(peer, new FerroException(code, where.during("", sequence), what));
    }

    /** Sleeps for a short time, because no signal wakes a rank. The sleep becomes longer while no bytes arrive. */
    @Override
    public void park(long deadlineNanos) {
        parked = Thread.currentThread();
        LockSupport.parkNanos(this, Math.min(backoffNanos, deadlineNanos - context.nanoTime()));
        backoffNanos = Math.min(2 * backoffNanos, BACKOFF_MAX_NANOS);
    }

    @Override
    public void wakeup() {
        LockSupport.unpark(parked);
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        messages.get(peer).send(message);
    }

    @Override
    public void events(Events receiver) {
        events = receiver;
        context.background().execute(this::moveMessages);
    }

    /** Moves control messages while no thread polls the links, including messages that did not fit before. */
    private void moveMessages() {
        boolean any = false;
        for (int i = 0; i < messages.size() && !closed; i++) {
            int peer = i;
            try {
                any |= messages.get(peer).move(message -> events.control(peer, message));
            } catch (IllegalStateException torn) {
                broken(peer, -1, Code.PROTOCOL, " cannot read a message of rank " + peer + ": " + torn.getMessage());
            }
        }
        if (!closed) {
            long nanos = any ? BACKOFF_MIN_NANOS : BACKOFF_MAX_NANOS;
            context.background().schedule(this::moveMessages, nanos, TimeUnit.NANOSECONDS);
        }
    }

    @Override
    public void abandon() {
        dropped = true;
        links.values().forEach(StagedLink::drop);
        RingEnd.WORD.setRelease(memory, (1 + rank()) * Long.BYTES, 1L);
    }

    /** Leaves the group. Sent data stay in the file, also for a peer that opens the file later. */
    @Override
    public boolean leave() {
        abandon();
        return true;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        abandon();
        try {
            if ((long) RingEnd.WORD.getAndAdd(memory, 0, 1L) == worldSize() - 1) {
                Files.delete(file);
            }
        } catch (IOException unable) {
            throw new UncheckedIOException("cannot remove " + file, unable);
        }
    }
}
