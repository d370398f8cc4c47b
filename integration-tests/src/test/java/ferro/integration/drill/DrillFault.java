package ferro.integration.drill;

import ferro.integration.Links;
import java.util.List;

/**
 * The faults of the drill, by their rows of docs/faults.md, and how soon others are promised to know of each: the tests that make them
 * and the page take it from here. A row is measured once for each of its faults.
 */
public enum DrillFault {
    LEAVE(1, "kill -9; survivors leave", 100),
    STAY(2, "kill -9; survivors stay", 100),
    BETWEEN(3, "kill -9 between calls", 100),
    NEXT_CALL(3, "the call after it", 5),
    DEADLINE(4, "SIGSTOP; deadline 1 s", 100),
    GOES_ON(5, "SIGCONT a second later; to RECOVERED", 200),
    HANGS(6, "SIGSTOP; to SUSPECTED with beats of 200 ms", 3 * 200),
    /** The limit of heartbeats, and 100 ms to judge. */
    GONE(7, "host gone without a word; limit of heartbeats 5 s", 5_000 + 100),
    /** The limit, and a heartbeat. */
    SILENT(8, "one direction silent; limit of heartbeats 5 s", 5_000 + 500),
    /** TCP's backoff doubles from what the fault took; the same for those that follow. */
    LINK_DOWN(9, "link down for 1.5 s; to the next sum", 3_000),
    CUT(10, "cut of 2 s; to the next sum", 3_000),
    LOSS_OF_1(11, "loss of 1 % for 1.5 s; slowest sum", 3_000),
    LOSS_OF_5(11, "loss of 5 % for 1.5 s; slowest sum", 3_000),
    SLOW_WIRE(11, "wire of 1 Mbit/s for 1.5 s; to the next sum", 3_000),
    LONG_LOST(11, "packets above 1000 bytes lost for 1.5 s; to the next sum", 3_000),
    /** The limit of heartbeats that nobody has set. */
    SMALLER_PATH(11, "packets above 1200 bytes lost for good and tcp_mtu_probing=1; slowest sum", 30_000),
    RESET(12, "all connections between two hosts reset", 250),
    EXITS(19, "exit(0) without close", 100),
    TWO(21, "kill -9 of two", 100),
    /** No time is promised, and none is measured. */
    STORE_GONE(22, "store closed", 0),
    MISSING(23, "rank missing at join; deadline 2 s", 100),
    ABORTS(28, "abort()", 100);

    /** What so much longer is allowed where ranks have no core of their own. */
    private static final double SHARED_CORES = 2.5;

    private static final int ROWS_MEASURED_OFTEN = 6;
    private static final int OFTEN = 30;
    private static final int SELDOM = 8;
    /** As many as a network can be broken in some minutes. */
    public static final int BROKEN_NETWORKS = 4;

    private final int row;
    private final String words;
    private final long idleMillis;

    DrillFault(int row, String words, long idleMillis) {
        this.row = row;
        this.words = words;
        this.idleMillis = idleMillis;
    }

    public int row() {
        return row;
    }

    public boolean isMeasured() {
        return this != STORE_GONE;
    }

    /**
     * Returns how soon after it others are promised to know, over whatever medium. What is promised on idle cores holds two and a half
     * times as long with four busy processes. It does, too, for ranks that are in a call as one is killed and have no core each: they
     * read and compile what they need to tell it, all at once, which takes as long as beside busy processes.
     *
     * @param ranks ranks of the job on one machine
     * @param cores cores of that machine
     */
    public double promisedMillis(Cell.Load load, int ranks, int cores) {
        boolean shared = load == Cell.Load.FOUR_BUSY || isKillInACall() && cores < ranks;
        return shared ? SHARED_CORES * idleMillis : idleMillis;
    }

    /** Whether more is allowed where ranks share cores. */
    public boolean isKillInACall() {
        return this == LEAVE || this == STAY || this == TWO;
    }

    /** Returns in how many runs it is measured over every medium before docs/faults/annex.md may have its figures. */
    public int leastRuns(Cell.Load load) {
        if (isBetweenHosts()) {
            return BROKEN_NETWORKS;
        }
        return row <= ROWS_MEASURED_OFTEN && load == Cell.Load.IDLE ? OFTEN : SELDOM;
    }

    /** Returns the media over which it is measured: within a host, or between hosts, where no memory is shared. */
    public List<Links> media() {
        return isBetweenHosts() ? List.of(Links.TCP, Links.TLS) : Links.measured();
    }

    /** Returns beside what it is measured. */
    public List<Cell.Load> loads() {
        boolean alsoBusy = this == STAY || this == DEADLINE || this == ABORTS;
        return alsoBusy ? List.of(Cell.Load.values()) : List.of(Cell.Load.IDLE);
    }

    private boolean isBetweenHosts() {
        return compareTo(GONE) >= 0 && compareTo(RESET) <= 0;
    }

    @Override
    public String toString() {
        return words;
    }
}
