package ferro.benchmarks.compare;

/** A formatter of sizes in bytes, with the units that people use. */
final class SizeFormatter {
    private static final long KIB = 1024;

    private SizeFormatter() {}

    static String label(long bytes) {
        if (bytes >= KIB * KIB && bytes % (KIB * KIB) == 0) {
            return bytes / (KIB * KIB) + " MiB";
        }
        return bytes >= KIB && bytes % KIB == 0 ? bytes / KIB + " KiB" : bytes + " B";
    }
}
