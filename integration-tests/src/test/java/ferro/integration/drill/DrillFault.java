package ferro.integration.drill;

/** The faults of the drill, by their rows of docs/faults.md. A row is measured once for each of its faults. */
public enum DrillFault {
    LEAVE(1, "kill -9; survivors leave"),
    STAY(2, "kill -9; survivors stay"),
    BETWEEN(3, "kill -9 between calls"),
    NEXT_CALL(3, "the call after it"),
    DEADLINE(4, "SIGSTOP; deadline 1 s"),
    GOES_ON(5, "SIGCONT a second later; to RECOVERED"),
    HANGS(6, "SIGSTOP; to SUSPECTED with beats of 200 ms"),
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

    /** Returns it in words, without a comma. */
    @Override
    public String toString() {
        return words;
    }
}
