package ferro.backend.tcp.link;

import ferro.DataType;
import ferro.ReduceOp;
import ferro.backend.tcp.net.SocketConfig;
import ferro.collectives.reduce.Kernel;
import ferro.collectives.reduce.KernelCache;
import io.netty.channel.Channel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The links of one group. The progress thread polls the links one after the other. Only links with posts are polled.
 *
 * <p>While data moves, each link reads and writes its socket without first asking whether the socket is ready, which
 * saves a system call. After some polls without progress, or with many waiting links, the {@link PolledLoop} is polled
 * first. The loop reports which sockets are ready.
 */
public final class PolledLinks implements AutoCloseable {
    /**
     * Number of polls without progress after which the loop is polled first. These polls last about as long as the
     * answer of a running peer.
     */
    private static final int EAGER_TURNS = 64;

    /** Number of busy links above which one poll of the loop costs less than a read of each link's socket. */
    private static final int EAGER_LINKS = 4;

    private final PolledLoop loop;
    private final DirectStaging staging;
    private final KernelCache kernels;
    private TcpLink[] active = new TcpLink[8];
    private int count;
    private int fruitless;
    /**
     * Memory through which TLS records are copied to and from sockets that accept no arrays. Created for the first
     * encrypted connection.
     */
    private ByteBuffer records;

    private PolledLinks(PolledLoop loop, DirectStaging staging, int worldSize) {
        this.loop = loop;
        this.staging = staging;
        this.kernels = new KernelCache(worldSize);
    }

    /** Opens the links of a group of {@code worldSize} ranks. If memory is exhausted, no link or loop stays open. */
    public static PolledLinks open(SocketConfig io, int worldSize) {
        DirectStaging staging = new DirectStaging();
        return new PolledLinks(PolledLoop.open(io), staging, worldSize);
    }

    DirectStaging staging() {
        return staging;
    }

    /** Returns the memory that all encrypted connections of the group share. */
    public ByteBuffer records() {
        if (records == null) {
            records = ByteBuffer.allocateDirect(ArraySocketCalls.MOST_BYTES);
        }
        return records;
    }

    /** Takes over a connection from the background loop. Only the thread that polls the links may call this method. */
    public DataSocket adopt(Channel channel) throws IOException {
        return loop.adopt(channel);
    }

    /** Returns the reduction kernel that these links share. One link at a time uses the kernel. */
    Kernel kernel(DataType type, ReduceOp op) {
        return kernels.of(type, op);
    }

    /** Records that a link has work to do. */
    void activate(TcpLink link) {
        fruitless = 0;
        if (link.activated()) {
            return;
        }
        link.activated(true);
        if (count == active.length) {
            active = Arrays.copyOf(active, count * 2);
        }
        active[count++] = link;
    }

    /** Moves the bytes that can be moved now. Returns whether any byte was moved. */
    public boolean poll() {
        if (count == 0) {
            // links without posts are not polled, so they cost nothing
            return false;
        }
        boolean eager = fruitless < EAGER_TURNS && count <= EAGER_LINKS;
        if (!eager || isWriteBlocked()) {
            loop.look();
        }
        boolean moved = false;
        for (int i = count - 1; i >= 0; i--) {
            TcpLink link = active[i];
            moved |= link.move(eager);
            if (!link.busy()) {
                retire(i);
            }
        }
        fruitless = moved ? 0 : fruitless + 1;
        return moved;
    }

    /**
     * Waits until a link may move bytes, {@link #wakeup} is called, the thread is interrupted, or the given time is
     * over.
     */
    public void block(long nanos) {
        for (int i = 0; i < count; i++) {
            if (active[i].ready()) {
                return;
            }
            active[i].want();
        }
        loop.block(nanos);
        fruitless = EAGER_TURNS;
    }

    /** Ends a {@link #block}; any thread may call. */
    public void wakeup() {
        loop.wakeup();
    }

    /** Closes the loop; the links must have been closed before. */
    @Override
    public void close() {
        Arrays.fill(active, null);
        count = 0;
        loop.close();
    }

    private void retire(int i) {
        active[i].activated(false);
        active[i] = active[--count];
        active[count] = null;
    }

    private boolean isWriteBlocked() {
        for (int i = 0; i < count; i++) {
            if (active[i].isWriteBlocked()) {
                return true;
            }
        }
        return false;
    }
}
