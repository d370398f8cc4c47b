package ferro.backend.tcp;

import ferro.DataType;
import ferro.ReduceOp;
import ferro.collectives.reduce.KeptKernels;
import ferro.collectives.reduce.Kernel;
import io.netty.channel.Channel;
import java.io.IOException;
import java.util.Arrays;

/**
 * The links of one group, moved by whoever drives: those with posts are asked in turn.
 *
 * <p>While data flows, sockets are asked directly; that saves a system call on every answer. Only when nothing has moved
 * for a while, or many links wait, does the loop say first which of them are worth asking.
 */
final class DrivenLinks implements AutoCloseable {
    /** Fruitless turns before the loop is asked first: about as long as the answer of a peer that runs takes. */
    private static final int EAGER_TURNS = 64;

    /** With more busy links than these, one look costs less than asking each. */
    private static final int EAGER_LINKS = 4;

    private final DrivenLoop loop;
    private final Staging staging;
    private final KeptKernels kernels = new KeptKernels();
    private TcpLink[] active = new TcpLink[8];
    private int count;
    private int fruitless;

    private DrivenLinks(DrivenLoop loop, Staging staging) {
        this.loop = loop;
        this.staging = staging;
    }

    /** Opens; where there is no memory, nothing was opened. */
    static DrivenLinks open(TcpIo io) {
        Staging staging = new Staging();
        return new DrivenLinks(DrivenLoop.open(io), staging);
    }

    Staging staging() {
        return staging;
    }

    Wire adopt(Channel channel) throws IOException {
        return loop.adopt(channel);
    }

    /** Returns the kernel that combines for these links, one at a time. */
    Kernel kernel(DataType type, ReduceOp op) {
        return kernels.of(type, op);
    }

    /** Notes that a link has something to do. */
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

    /** Moves what can be moved now; returns whether anything did. */
    boolean poll() {
        if (count == 0) {
            // where other links carry the data, these cost nothing
            return false;
        }
        boolean eager = fruitless < EAGER_TURNS && count <= EAGER_LINKS;
        if (!eager || crammed()) {
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

    /** Waits until a link may move, {@link #wakeup}, an interrupt, or the time. */
    void block(long nanos) {
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
    void wakeup() {
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

    private boolean crammed() {
        for (int i = 0; i < count; i++) {
            if (active[i].crammed()) {
                return true;
            }
        }
        return false;
    }
}
