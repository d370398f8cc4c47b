package ferro.benchmarks.compare;

import ferro.benchmarks.compare.Measurement.CoreDistance;
import ferro.benchmarks.compare.Measurement.SizedCall;
import ferro.benchmarks.compare.Ratios.Ratio;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;

/**
 * A table of ferro's promises next to the measured ratios. Each row has the ratio of the worst size, for near cores and
 * for far cores.
 */
final class Targets {
    private static final long KIB = 1024;
    private static final long MIB = KIB * KIB;
    private static final long ANY = Long.MAX_VALUE;
    private static final List<String> ALL_REDUCE = List.of("allreduce");
    private static final List<String> MOVES = List.of("broadcast", "allgather", "reducescatter", "alltoall");
    private static final List<String> SHM = List.of("openmpi-shm", "mpich-shm");
    private static final List<String> TCP = List.of("openmpi-tcp", "mpich-tcp", "gloo-tcp");
    private static final List<String> GLOO = List.of("gloo-tcp");

    private final Ratios ratios;

    Targets(Ratios ratios) {
        this.ratios = ratios;
    }

    /**
     * One promised ratio.
     *
     * @param text        text of the promise
     * @param contestant  name of the contestant, without its JDK
     * @param ranks       world size
     * @param collectives collectives that the promise covers
     * @param sizes       sizes that the promise covers
     * @param opponents   contestants, of which the fastest is compared
     * @param limit       promised limit of the ratio
     */
    private record PromisedRatio(
            String text,
            String contestant,
            int ranks,
            List<String> collectives,
            SizeRange sizes,
            List<String> opponents,
            double limit) {
        boolean covers(SizedCall item) {
            return item.ranks() == ranks
                    && collectives.contains(item.collective())
                    && item.bytes() >= sizes.least
                    && item.bytes() <= sizes.most;
        }
    }

    /** A range of sizes that includes {@code least} and {@code most}. */
    private record SizeRange(long least, long most) {}

    private static final SizeRange SMALL = new SizeRange(0, KIB);
    private static final SizeRange SIXTEEN = new SizeRange(16 * KIB, 16 * KIB);
    private static final SizeRange BELOW_64 = new SizeRange(0, 64 * KIB - 1);
    private static final SizeRange FROM_64 = new SizeRange(64 * KIB, ANY);
    private static final SizeRange MIDDLE = new SizeRange(64 * KIB, 4 * MIB);
    private static final SizeRange TO_1_MIB = new SizeRange(0, MIB);
    private static final SizeRange LARGE = new SizeRange(16 * MIB, 16 * MIB);
    private static final SizeRange LARGEST = new SizeRange(64 * MIB, 64 * MIB);
    private static final SizeRange ALL = new SizeRange(0, ANY);
    private static final String NO_VECTORS = "the same without the Vector API";

    private static List<PromisedRatio> sharedMemory() {
        List<String> sums = List.of("allreduce", "barrier");
        List<String> ofMany = List.of("openmpi-shm");
        return List.of(
                new PromisedRatio("shm, 2 ranks, to 1 KiB, and barrier", "ferro-shm", 2, sums, SMALL, SHM, 0.5),
                new PromisedRatio("shm, 2 ranks, 16 KiB", "ferro-shm", 2, ALL_REDUCE, SIXTEEN, SHM, 0.45),
                new PromisedRatio(NO_VECTORS, "ferro-shm-plain", 2, ALL_REDUCE, SIXTEEN, SHM, 0.65),
                new PromisedRatio("shm, 2 ranks, 64 KiB to 4 MiB", "ferro-shm", 2, ALL_REDUCE, MIDDLE, SHM, 0.35),
                new PromisedRatio(NO_VECTORS, "ferro-shm-plain", 2, ALL_REDUCE, MIDDLE, SHM, 0.5),
                new PromisedRatio("shm, 2 ranks, 16 MiB", "ferro-shm", 2, ALL_REDUCE, LARGE, SHM, 0.35),
                new PromisedRatio("shm, 2 ranks, 64 MiB", "ferro-shm", 2, ALL_REDUCE, LARGEST, SHM, 0.2),
                new PromisedRatio("shared buffers, from 64 KiB", "ferro-shm-shared", 2, ALL_REDUCE, FROM_64, SHM, 0.2),
                new PromisedRatio(NO_VECTORS, "ferro-shm-plain-shared", 2, ALL_REDUCE, FROM_64, SHM, 0.35),
                new PromisedRatio("shm, 3 ranks on 2 cores", "ferro-shm", 3, ALL_REDUCE, ALL, ofMany, 0.7),
                new PromisedRatio("shm, 4 ranks on 2 cores", "ferro-shm", 4, ALL_REDUCE, ALL, ofMany, 0.7));
    }

    private static List<PromisedRatio> others() {
        List<String> reno = List.of("openmpi-tcp-reno");
        List<String> ofMany = List.of("openmpi-tcp", "gloo-tcp");
        List<String> ourShm = List.of("ferro-shm");
        return List.of(
                new PromisedRatio("TCP, 2 ranks, to 1 MiB", "ferro-tcp", 2, ALL_REDUCE, TO_1_MIB, TCP, 0.85),
                new PromisedRatio("TCP, 2 ranks, 16 MiB", "ferro-tcp", 2, ALL_REDUCE, LARGE, TCP, 0.7),
                new PromisedRatio("TCP, 2 ranks, 64 MiB", "ferro-tcp", 2, ALL_REDUCE, LARGEST, TCP, 0.45),
                new PromisedRatio("TCP, 2 ranks", "ferro-tcp", 2, ALL_REDUCE, ALL, reno, 1.0),
                new PromisedRatio("TCP, 2 ranks, below 64 KiB", "ferro-tcp", 2, ALL_REDUCE, BELOW_64, GLOO, 0.2),
                new PromisedRatio("TCP, 2 ranks, from 64 KiB", "ferro-tcp", 2, ALL_REDUCE, FROM_64, GLOO, 0.5),
                new PromisedRatio("TCP, 4 ranks on 2 cores", "ferro-tcp", 4, ALL_REDUCE, ALL, ofMany, 0.9),
                new PromisedRatio("moving collectives, shm, 2 ranks", "ferro-shm", 2, MOVES, ALL, SHM, 0.9),
                new PromisedRatio("moving collectives, TCP, 2 ranks", "ferro-tcp", 2, MOVES, ALL, TCP, 0.9),
                new PromisedRatio(
                        "simulated, 2 ranks, from 64 KiB", "ferro-simulated", 2, ALL_REDUCE, FROM_64, ourShm, 1.0));
    }

    /** Returns a table of all promises that have measurements. */
    String markdown() {
        TreeSet<String> jdks = new TreeSet<>(Comparator.reverseOrder());
        ratios.contestants().stream()
                .filter(TransportMedium::ours)
                .forEach(name -> jdks.add(name.substring(name.indexOf('@'))));
        StringBuilder text = new StringBuilder("| case | against the best of | target |");
        jdks.forEach(jdk -> text.append(" JDK ").append(jdk.substring(1)).append(", near | far |"));
        text.append(" met |\n|---|---|---|")
                .append("---|---|".repeat(jdks.size()))
                .append("---|\n");
        sharedMemory().forEach(target -> text.append(row(target, jdks)));
        others().forEach(target -> text.append(row(target, jdks)));
        return text.toString();
    }

    private String row(PromisedRatio target, Iterable<String> jdks) {
        List<WorstRatio> cells = new ArrayList<>();
        StringBuilder text = new StringBuilder("| " + target.text + " | " + String.join(", ", target.opponents)
                + String.format(Locale.ROOT, " | %.2f |", target.limit));
        for (String jdk : jdks) {
            for (CoreDistance state : List.of(CoreDistance.NEAR, CoreDistance.FAR)) {
                Optional<WorstRatio> worst = worst(target, jdk, state);
                worst.ifPresent(cells::add);
                text.append(' ')
                        .append(worst.map(WorstRatio::toString).orElse("-"))
                        .append(" |");
            }
        }
        if (cells.isEmpty()) {
            return "";
        }
        boolean met = cells.stream().allMatch(cell -> cell.ratio <= target.limit);
        return text.append(met ? " yes |\n" : " **no** |\n").toString();
    }

    /** The item of a promise whose ratio is worst, compared with the promised limit. */
    private record WorstRatio(double ratio, double best, SizedCall item, int items) {
        @Override
        public String toString() {
            String where = SizeFormatter.label(item.bytes())
                    + (item.collective().equals("allreduce") ? "" : " " + item.collective());
            return items == 1
                    ? String.format(Locale.ROOT, "%.2f", ratio)
                    : String.format(Locale.ROOT, "%.2f to %.2f (%s)", best, ratio, where);
        }
    }

    private Optional<WorstRatio> worst(PromisedRatio target, String jdk, CoreDistance state) {
        List<String> opponents = target.opponents.stream()
                .map(name -> TransportMedium.ours(name) ? name + jdk : name)
                .toList();
        WorstRatio worst = null;
        for (SizedCall item : ratios.items()) {
            Optional<Ratio> ratio = target.covers(item)
                    ? ratios.best(item, target.contestant + jdk, opponents, state)
                    : Optional.empty();
            if (ratio.isPresent()) {
                worst = worse(worst, ratio.get().ratio().middle(), item);
            }
        }
        return Optional.ofNullable(worst);
    }

    private static WorstRatio worse(WorstRatio before, double ratio, SizedCall item) {
        if (before == null) {
            return new WorstRatio(ratio, ratio, item, 1);
        }
        boolean worse = ratio > before.ratio;
        return new WorstRatio(
                worse ? ratio : before.ratio,
                Math.min(before.best, ratio),
                worse ? item : before.item,
                before.items + 1);
    }
}
