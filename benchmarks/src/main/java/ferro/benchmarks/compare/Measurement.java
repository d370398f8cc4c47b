package ferro.benchmarks.compare;

import java.util.List;
import java.util.Locale;

/**
 * The time of one contestant for one size in one round, with the state of the machine before and after. A measurement
 * is a line of raw.csv.
 *
 * @param run        number of the run of the comparison; rounds of different runs are different rounds
 * @param item       measured item
 * @param contestant name of the contestant
 * @param round      number of the round
 * @param times      times of one call
 * @param wrong      number of elements that differ from the result of a plain loop
 * @param before     state of the machine before the measurement
 * @param after      state of the machine after the measurement
 */
record Measurement(
        String run,
        SizedCall item,
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
     * A measured collective with a size.
     *
     * @param ranks      world size
     * @param collective name of the collective, as {@code ferro bench} uses it
     * @param bytes      size in bytes
     */
    record SizedCall(int ranks, String collective, long bytes) {}

    /**
     * Times of one call, in microseconds.
     *
     * @param min    time of a call in the fastest block
     * @param median time of a call in the median block
     * @param p99    time of a call in the slowest block after the slowest hundredth is left out; with fewer than a
     *     hundred blocks, in the slowest block
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
                new SizedCall(Integer.parseInt(cells.get(1)), cells.get(2), Long.parseLong(cells.get(3))),
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

    /** Returns whether two cores were near, were far, or changed between near and far during the measurement. */
    CoreDistance nearness() {
        boolean first = before.near();
        if (first != after.near()) {
            return CoreDistance.CHANGED;
        }
        return first ? CoreDistance.NEAR : CoreDistance.FAR;
    }

    double loopbackMicros() {
        return (before.loopbackMicros() + after.loopbackMicros()) / 2;
    }

    /** The time after which a core sees the writes of another core. */
    enum CoreDistance {
        NEAR,
        FAR,
        CHANGED;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
