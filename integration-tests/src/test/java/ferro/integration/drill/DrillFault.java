package ferro.integration.drill;

import ferro.integration.Links;
import java.util.List;

/** The faults of the drill, by their rows of docs/faults.md. A row is measured once for each of its faults. */
public enum DrillFault {
    LEAVE(1, "kill -9; survivors leave"),
    STAY(2, "kill -9; survivors stay"),
    BETWEEN(3, "kill -9 between calls"),
    NEXT_CALL(3, "the call after it"),
    DEADLINE(4, "SIGSTOP; deadline 1 s"),
    GOES_ON(5, "SIGCONT a second later; to RECOVERED"),
    HANGS(6, "SIGSTOP; to SUSPECTED with beats of 200 ms"),
    GONE(7, "host gone without a word; limit of heartbeats 5 s"),
    SILENT(8, "one direction silent; limit of heartbeats 5 s"),
    LINK_DOWN(9, "link down for 1.5 s; to the next sum"),
    CUT(10, "cut of 2 s; to the next sum"),
    LOSS_OF_1(11, "loss of 1 % for 1.5 s; slowest sum"),
    LOSS_OF_5(11, "loss of 5 % for 1.5 s; slowest sum"),
    SLOW_WIRE(11, "wire of 1 Mbit/s for 1.5 s; to the next sum"),
    LONG_LOST(11, "packets above 1000 bytes lost for 1.5 s; to the next sum"),
    SMALLER_PATH(11, "packets above 1200 bytes lost for good and tcp_mtu_probing=1; slowest sum"),
    RESET(12, "all connections between two hosts reset"),
    EXITS(19, "exit(0) without close"),
    TWO(21, "kill -9 of two"),
    /** No time is promised, and none is measured. */
    STORE_GONE(22, "store closed"),
    MISSING(23, "rank missing at join; deadline 2 s"),
    ABORTS(28, "abort()");

    private final int row;
    private final String words;

    DrillFault(int row, String words) {
        this.row = row;
        this.words = words;
    }

    public int row() {
        return row;
    }

    /** Whether the drill writes down how long after it the others knew. */
    public boolean isMeasured() {
        return this != STORE_GONE;
    }

    /** Returns the media over which it is measured: within a host, or between hosts, where no memory is shared. */
    public List<Links> media() {
        return isBetweenHosts() ? List.of(Links.TCP, Links.TLS) : Links.measured();
    }

    private boolean isBetweenHosts() {
        return compareTo(GONE) >= 0 && compareTo(RESET) <= 0;
    }

    /** Returns it in words, without a comma. */
    @Override
    public String toString() {
        return words;
    }
}
