package ferro.benchmarks;

import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One line of the result table.
 *
 * @param setting     values that all lines of the table share
 * @param count       number of elements of the whole tensor
 * @param times       times of one operation
 * @param wrong       number of elements that differ from the result of a plain loop, over all ranks
 * @param probeMicros half a round trip of the wire probe at the time of this line; NaN if no probe was measured
 */
record ResultRow(SweepSetting setting, int count, Stopwatch.CallTimes times, long wrong, double probeMicros) {
    /**
     * The values that all lines of the table share.
     *
     * @param sweep   requested sweep
     * @param backend name of the back end
     * @param ranks   world size
     * @param memory  kind of memory that has the tensors
     * @param medium  medium that carries the data; empty if the medium is not known
     */
    record SweepSetting(Sweep sweep, String backend, int ranks, String memory, String medium) {
        /** Returns the setting with the group's medium, because a back end's name does not determine the medium. */
        static SweepSetting of(Sweep sweep, String backend, ProcessGroup group, String memory) {
            return new SweepSetting(
                    sweep, backend, group.worldSize(), memory, group.medium().text());
        }
    }

    private Sweep sweep() {
        return setting.sweep();
    }

    long bytes() {
        return (long) count * sweep().type().byteSize();
    }

    /** Returns size divided by time, in GB/s. */
    double algorithmBandwidth() {
        return bytes() / times.median() / 1000;
    }

    double busBandwidth() {
        return algorithmBandwidth() * sweep().collective().busFactor(setting.ranks());
    }

    /** Returns the column heads, as nccl-tests prints them. */
    static String head(SweepSetting setting) {
        String columns = "# %10s %12s %6s %8s %12s %9s %9s %6s";
        return String.format(
                Locale.ROOT,
                "# %s, %d ranks, %s, %s tensors, %s%smedian times%n" + columns + "%n" + columns,
                setting.sweep().collective().label(),
                setting.ranks(),
                setting.backend(),
                setting.memory(),
                setting.medium().isEmpty() ? "" : "data over " + setting.medium() + ", ",
                setting.sweep().queued() == 1 ? "" : setting.sweep().queued() + " queued at once, ",
                "size",
                "count",
                "type",
                "redop",
                "time",
                "algbw",
                "busbw",
                "wrong",
                "(B)",
                "(elements)",
                "",
                "",
                "(us)",
                "(GB/s)",
                "(GB/s)",
                "");
    }

    /** Returns lines that describe the columns. */
    static List<String> legend(SweepSetting setting) {
        List<String> lines = new ArrayList<>(List.of(
                "# size, count: bytes and elements of the tensor; redop: the operation",
                "# time: one call on the slowest rank, the median of all blocks of calls (lower is better)"));
        double factor = setting.sweep().collective().busFactor(setting.ranks());
        if (factor > 0) {
            lines.add("# algbw: size divided by time (higher is better)");
            lines.add(String.format(
                    Locale.ROOT,
                    "# busbw: algbw times %.2f, the share of the size that crosses the busiest link of %d ranks",
                    factor,
                    setting.ranks()));
        } else {
            lines.add("# algbw, busbw: 0, because no data moves");
        }
        lines.add("# wrong: elements that differ from a plain loop, on all ranks; must be 0");
        return lines;
    }

    String table() {
        return String.format(
                Locale.ROOT,
                "  %10d %12d %6s %8s %12.2f %9.4f %9.4f %6d",
                bytes(),
                count,
                sweep().type().label(),
                sweep().opLabel(),
                times.median(),
                algorithmBandwidth(),
                busBandwidth(),
                wrong);
    }

    String json() {
        String probe = Double.isNaN(probeMicros) ? "null" : String.format(Locale.ROOT, "%.3f", probeMicros);
        return String.format(
                Locale.ROOT,
                "{\"collective\":\"%s\",\"backend\":\"%s\",\"ranks\":%d,\"type\":\"%s\",\"op\":\"%s\",\"bytes\":%d,"
                        + "\"us_min\":%.3f,\"us_median\":%.3f,\"us_p99\":%.3f,\"algbw\":%.4f,\"busbw\":%.4f,"
                        + "\"memory\":\"%s\",\"medium\":\"%s\",\"queued\":%d,\"wrong\":%d,\"probe_us\":%s}",
                sweep().collective().label(),
                setting.backend(),
                setting.ranks(),
                sweep().type().label(),
                sweep().opLabel(),
                bytes(),
                times.min(),
                times.median(),
                times.p99(),
                algorithmBandwidth(),
                busBandwidth(),
                setting.memory(),
                setting.medium(),
                sweep().queued(),
                wrong,
                probe);
    }
}
