package ferro.benchmarks;

import ferro.group.ProcessGroup;
import java.util.Locale;

/**
 * One line of the result.
 *
 * @param setting     what all lines have in common
 * @param count       elements of the whole tensor
 * @param times       of one operation
 * @param wrong       elements that a plain loop gives otherwise, over all ranks
 * @param probeMicros what the machine gave beside it; NaN if that is not known
 */
record Row(Setting setting, int count, Stopwatch.Times times, long wrong, double probeMicros) {
    /**
     * What all lines have in common.
     *
     * @param sweep   what was asked for
     * @param backend name of the back end
     * @param ranks   world size
     * @param memory  where the tensors are
     * @param medium  what carries the data; empty if that is not known
     */
    record Setting(Sweep sweep, String backend, int ranks, String memory, String medium) {
        /** Takes from the group what it knows: a name of a back end does not say what carries the data. */
        static Setting of(Sweep sweep, String backend, ProcessGroup group, String memory) {
            return new Setting(
                    sweep, backend, group.worldSize(), memory, group.medium().text());
        }
    }

    private Sweep sweep() {
        return setting.sweep();
    }

    long bytes() {
        return (long) count * sweep().type().byteSize();
    }

    /** Size by time, in GB/s. */
    double algorithmBandwidth() {
        return bytes() / times.median() / 1000;
    }

    double busBandwidth() {
        return algorithmBandwidth() * sweep().collective().busFactor(setting.ranks());
    }

    /** Column heads as nccl-tests has them. */
    static String head(Setting setting) {
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
