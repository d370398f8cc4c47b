package ferro.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Runs the parts of steps in turns, each round from another one on, and takes medians. */
final class OverlapRounds {
    private static final int WARM_UP_ROUNDS = 3;

    private final PartClock clock;
    private final Computing computing;
    private final OverlapRequest request;

    OverlapRounds(PartClock clock, Computing computing, OverlapRequest request) {
        this.clock = clock;
        this.computing = computing;
        this.request = request;
    }

    private static final class PartSamples {
        private final Runnable part;
        private final double[] wall;
        private final double[] cpu;

        PartSamples(Runnable part, int rounds) {
            this.part = part;
            wall = new double[rounds];
            cpu = new double[rounds];
        }

        double wallMedian() {
            return median(wall);
        }

        double cpuMedian() {
            return median(cpu);
        }

        private static double median(double[] samples) {
            double[] sorted = samples.clone();
            Arrays.sort(sorted);
            return sorted[sorted.length / 2];
        }
    }

    /** The parts of a step with buckets of one size. */
    private record Parts(
            OverlapStep step, PartSamples communicating, PartSamples untilFirst, PartSamples last, PartSamples whole) {
        static Parts of(OverlapStep step, Computing computing, int rounds) {
            return new Parts(
                    step,
                    new PartSamples(step::communicate, rounds),
                    new PartSamples(() -> step.untilFirst(computing), rounds),
                    new PartSamples(step::lastBucket, rounds),
                    new PartSamples(() -> step.step(computing), rounds));
        }

        List<PartSamples> all() {
            return List.of(communicating, untilFirst, last, whole);
        }
    }

    /** Measures; every rank must call it. */
    List<OverlapRow> run(List<OverlapStep> steps) {
        OverlapStep any = steps.get(0);
        PartSamples alone = new PartSamples(() -> any.compute(computing), request.rounds());
        PartSamples flat = new PartSamples(() -> any.flat(computing), request.rounds());
        List<Parts> parts = steps.stream()
                .map(step -> Parts.of(step, computing, request.rounds()))
                .toList();
        List<PartSamples> contestants = new ArrayList<>(List.of(alone, flat));
        parts.forEach(part -> contestants.addAll(part.all()));
        for (int round = -WARM_UP_ROUNDS; round < request.rounds(); round++) {
            for (int turn = 0; turn < contestants.size(); turn++) {
                PartSamples next = contestants.get(Math.floorMod(turn + round, contestants.size()));
                PartClock.PartTimes took = clock.millis(next.part);
                if (round >= 0) {
                    next.wall[round] = took.wall();
                    next.cpu[round] = took.cpu();
                }
            }
        }
        return parts.stream().map(part -> row(part, alone, flat)).toList();
    }

    private static OverlapRow row(Parts part, PartSamples alone, PartSamples flat) {
        return new OverlapRow(
                part.step().bucketBytes(),
                alone.wallMedian(),
                part.communicating().wallMedian(),
                part.untilFirst().wallMedian(),
                part.last().wallMedian(),
                part.whole().wallMedian(),
                flat.wallMedian(),
                part.whole().cpuMedian() - alone.cpuMedian());
    }
}
