package ferro.integration.drill;

import ferro.integration.Links;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One fault of the drill.
 *
 * @param fault   what happens
 * @param victims ranks that it hits
 * @param medium  what carries the ranks' data
 * @param load    whether four busy processes run beside the ranks
 * @param heapMiB of the victim, all of it written to
 * @param round   1 and up
 */
public record Cell(DrillFault fault, List<Integer> victims, Links medium, Load load, int heapMiB, int round) {
    /** What else the machine does. */
    public enum Load {
        IDLE,
        FOUR_BUSY
    }

    public static Cell of(DrillFault fault) {
        return new Cell(fault, List.of(), Links.TCP, Load.IDLE, Drill.SMALL_HEAP_MIB, 1);
    }

    public Cell of(int... ranks) {
        return new Cell(fault, java.util.Arrays.stream(ranks).boxed().toList(), medium, load, heapMiB, round);
    }

    public Cell over(Links other) {
        return new Cell(fault, victims, other, load, heapMiB, round);
    }

    Cell loaded() {
        return new Cell(fault, victims, medium, Load.FOUR_BUSY, heapMiB, round);
    }

    Cell withHeap(int mebibytes) {
        return new Cell(fault, victims, medium, load, mebibytes, round);
    }

    public Cell inRound(int number) {
        return new Cell(fault, victims, medium, load, heapMiB, number);
    }

    /** Returns what else is measured of the same ranks, victims and round. */
    Cell also(DrillFault other) {
        return new Cell(other, victims, medium, load, heapMiB, round);
    }

    int victim() {
        return victims.get(0);
    }

    int heapMiB(int rank) {
        return victims.contains(rank) ? heapMiB : Drill.SMALL_HEAP_MIB;
    }

    boolean isLoaded() {
        return load == Load.FOUR_BUSY;
    }

    public double promisedMillis() {
        return fault.promisedMillis(load, DrillJob.WORLD_SIZE, Drill.cores());
    }

    @Override
    public String toString() {
        String ranks = victims.stream().map(rank -> "" + rank).collect(Collectors.joining(" and "));
        return fault + " of " + ranks + " over " + medium + ", " + (isLoaded() ? "four busy" : "idle") + ", " + heapMiB
                + " MiB, round " + round;
    }
}
