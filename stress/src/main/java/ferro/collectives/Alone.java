package ferro.collectives;

import ferro.FerroException.Code;
import ferro.collectives.algorithm.TunedRows;
import ferro.collectives.control.Failure;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import ferro.spi.Link;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;

/** What the tests are made of: a rank of a world of one, whose engine is the real one over a medium that moves nothing. */
final class Alone implements Transport {
    static final Failure FAILURE = new Failure(Code.ABORTED, 0, -1, "0", "out of paper", null);
    static final Duration LONG = Duration.ofMinutes(1);

    private static final GroupSpec GROUP = new GroupSpec("stress", 0, 1, LONG);
    private static final SystemContext CONTEXT = SystemContext.of(Map.of("ferro.recorder.entries", "0"));
    private static final Driver NOBODY = new Driver(engine(), new Alone(), GROUP, CONTEXT, false);

    private Alone() {}

    /** A group of the real engine; whoever makes it closes it. */
    static GroupEngine engine() {
        return new GroupEngine(new Alone(), GROUP, CONTEXT, Place.unwatched(GROUP, TunedRows.NONE));
    }

    /** An operation that nobody drives. */
    static PendingWork work() {
        return new PendingWork(NOBODY, "barrier", 1, LONG);
    }

    @Override
    public int rank() {
        return 0;
    }

    @Override
    public int worldSize() {
        return 1;
    }

    @Override
    public Link link(int peer, Lane lane) {
        throw new IllegalStateException("a world of one has no link to rank " + peer);
    }

    @Override
    public Transport subgroup(int[] ranks, long group) {
        return new Alone();
    }

    @Override
    public boolean poll() {
        return false;
    }

    @Override
    public void park(long deadlineNanos) {
        Thread.onSpinWait();
    }

    @Override
    public void wakeup() {
        // nobody parks for long
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        throw new IllegalStateException("a world of one has nobody to tell, found rank " + peer);
    }

    @Override
    public void events(Events events) {
        // nothing happens here
    }

    @Override
    public void abandon() {
        // nothing is under way
    }

    @Override
    public void close() {
        // nothing is held
    }
}
