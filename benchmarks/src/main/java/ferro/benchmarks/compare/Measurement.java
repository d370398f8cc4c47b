package ferro.benchmarks.compare;

import java.util.List;
import java.util.Locale;

/**
 * The time of one contestant for one size in one round, and the machine's state around it; a line of raw.csv.
 *
 * @param run        which call of the comparison; rounds of different runs are different rounds
 * @param item       measured item
 * @param contestant name of the contestant
 * @param round      number of the round
 * @param times      times of one call
 * @param wrong      elements that differ from a plain loop
 * @param before     state of the machine before
 * @param after      state of the machine after
 */
record Measurement(
        String run,
        Item item,
        String contestant,
        int round,
        MeasuredTimes times,
        long wrong,
        MachineProbe.MachineState before,
        MachineProbe.MachineState after) {
    static final String HEAD = "run,ranks,collective,bytes,contestant,round,us_min,us_median,us_p99,wrong,"
            + "flag_before,flag_after,loopback_before,loopback_after";

    private static final int COLUMNS = HEAD.split(",").length;

    /**
     * The measured collective and size.
     *
     * @param ranks      world size
     * @param collective as {@code ferro bench} names it
     * @param bytes      size
     */
    record Item(int ranks, String collective, long bytes) {}

    /**
     * Microseconds of one call.
     *
     * @param min    fastest block
     * @param median middle block
     * @param p99    slowest block but one in a hundred; with fewer than a hundred blocks the slowest
     */
    record MeasuredTimes(double min, double median, double p99) {}

    String csv() {
        return String.format(
                Locale.ROOT,
                "%s,%d,%s,%d,%s,%d,%.4f,%.4f,%.4f,%d,%.4f,%.4f,%.3f,%.3f",
                run,
                item.ranks(),
                item.collective(),
                item.bytes(),
                contestant,
                round,
                times.min(),
                times.median(),
                times.p99(),
                wrong,
                before.flagMicros(),
                after.flagMicros(),
                before.loopbackMicros(),
                after.loopbackMicros());
    }

    static Measurement parse(String line) {
        List<String> cells = List.of(line.split(","));
        if (cells.size() != COLUMNS) {
            throw new IllegalArgumentException(
                    "\"" + line + "\" has " + cells.size() + " columns, need " + COLUMNS + ": " + HEAD);
        }
        return new Measurement(
                cells.get(0),
                new Item(Integer.parseInt(cells.get(1)), cells.get(2), Long.parseLong(cells.get(3))),
                cells.get(4),
                Integer.parseInt(cells.get(5)),
                new MeasuredTimes(number(cells.get(6)), number(cells.get(7)), number(cells.get(8))),
                Long.parseLong(cells.get(9)),
                new MachineProbe.MachineState(number(cells.get(10)), number(cells.get(12))),
                new MachineProbe.MachineState(number(cells.get(11)), number(cells.get(13))));
    }

    private static double number(String cell) {
        return Double.parseDouble(cell);
    }

    /** Returns whether the machine was near, far, or changed meanwhile. */
    CoreLatency nearness() {
        boolean first = before.near();
        if (first != after.near()) {
            return CoreLatency.CHANGED;
        }
        return first ? CoreLatency.NEAR : CoreLatency.FAR;
    }

    double loopbackMicros() {
        return (before.loopbackMicros() + after.loopbackMicros()) / 2;
    }

    /** How fast two cores see each other's writes. */
    enum CoreLatency {
        NEAR,
        FAR,
        CHANGED;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
