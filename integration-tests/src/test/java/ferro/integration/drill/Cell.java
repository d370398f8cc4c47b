package ferro.integration.drill;

import java.util.List;
import java.util.stream.Collectors;

/**
 * One fault of the drill.
 *
 * @param row     of docs/faults.md
 * @param fault   in words
 * @param victims ranks that it hits
 * @param load    whether four busy processes run beside the ranks
 * @param heapMiB of the victim, all of it written to
 * @param round   1 and up
 */
record Cell(int row, String fault, List<Integer> victims, Load load, int heapMiB, int round) {
    /** What else the machine does. */
    enum Load {
        IDLE,
        FOUR_BUSY
    }

    static Cell of(int row, String fault) {
        return new Cell(row, fault, List.of(), Load.IDLE, Drill.SMALL_HEAP_MIB, 1);
    }

    Cell of(int... ranks) {
        return new Cell(row, fault, java.util.Arrays.stream(ranks).boxed().toList(), load, heapMiB, round);
    }

    Cell loaded() {
        return new Cell(row, fault, victims, Load.FOUR_BUSY, heapMiB, round);
    }

    Cell withHeap(int mebibytes) {
        return new Cell(row, fault, victims, load, mebibytes, round);
    }

    Cell inRound(int number) {
        return new Cell(row, fault, victims, load, heapMiB, number);
    }

    int victim() {
        return victims.get(0);
    }

    boolean isLoaded() {
        return load == Load.FOUR_BUSY;
    }

    /** What is promised on two idle cores holds two and a half times as long with four busy processes. */
    double promisedMillis(long idleMillis) {
        return isLoaded() ? 2.5 * idleMillis : idleMillis;
    }

    @Override
    public String toString() {
        String ranks = victims.stream().map(rank -> "" + rank).collect(Collectors.joining(" and "));
        return fault + " of " + ranks + ", " + (isLoaded() ? "four busy" : "idle") + ", " + heapMiB + " MiB, round "
                + round;
    }
}
