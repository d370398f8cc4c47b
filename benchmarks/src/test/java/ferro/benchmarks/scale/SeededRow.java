package ferro.benchmarks.scale;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.simulated.CountedRanks;
import ferro.backend.simulated.Fault;
import ferro.backend.simulated.Simulation;
import ferro.group.ProcessGroup;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** Ranks of the seeded simulation, all on one thread. */
final class SeededRow {
    private static final Map<String, String> SETTINGS =
            Map.of("ferro.timeout", "10m", "ferro.heartbeat.interval", "0s");
    private static final long MILLIS = 1_000_000;

    private final int ranks;
    private final Simulation simulation;

    private SeededRow(int ranks, Map<String, String> settings, MessageCounts counts) {
        this.ranks = ranks;
        this.simulation = CountedRanks.seeded(ranks, settings, counts);
    }

    static void phases(int ranks) {
        Meter meter = new Meter();
        SeededRow row = new SeededRow(ranks, SETTINGS, null);
        meter.lap("construction");
        meter.heap("construction");
        row.begin(() -> row.all(ProcessGroup::barrierAsync, () -> {
            meter.lap("barrier");
            row.all(SeededRow::allReduce, () -> {
                meter.lap("allReduce");
                meter.heap("allReduce");
                row.fail();
            });
        }));
        row.simulation
                .check(() -> {
                    meter.lap("one failure");
                    meter.heap("failure");
                })
                .run();
        meter.lap("close after failure");
        meter.sum("all");
    }

    private static Work allReduce(ProcessGroup group) {
        return group.allReduceAsync(HostTensor.of(new float[] {group.rank() + 1}), ReduceOp.SUM);
    }

    static void failure(int ranks) {
        MessageCounts counts = new MessageCounts(ranks);
        Meter meter = new Meter();
        SeededRow row = new SeededRow(ranks, SETTINGS, counts);
        long[] known = new long[2];
        row.begin(() -> row.all(ProcessGroup::barrierAsync, () -> {
            counts.restart();
            meter.restart();
            known[0] = row.simulation.elapsed().toNanos();
            row.fail();
        }));
        CountedRanks.observe(row.simulation, rank -> {
            if (known[1] == 0 && row.failed.get() == ranks - 1) {
                known[1] = row.simulation.elapsed().toNanos();
            }
        });
        row.simulation
                .check(() -> {
                    meter.lap("one failure");
                    counts.print("of a failure");
                    Meter.print("aborts of a failure", counts.ofGroups(MessageCounts.ABORT), "messages");
                    Meter.print("virtual time until all know", (double) (known[1] - known[0]) / MILLIS, "ms");
                })
                .run();
    }

    static void leaving(int ranks) {
        MessageCounts counts = new MessageCounts(ranks);
        Meter meter = new Meter();
        SeededRow row = new SeededRow(ranks, SETTINGS, counts);
        row.begin(() -> row.all(ProcessGroup::barrierAsync, () -> {}));
        row.simulation
                .check(() -> {
                    counts.restart();
                    meter.restart();
                })
                .run();
        meter.lap("leaving");
        counts.print("of leaving");
    }

    private final AtomicInteger failed = new AtomicInteger();

    private void begin(Runnable first) {
        simulation.onRank(0, group -> first.run());
    }

    /** Starts an operation on all ranks, and runs code after it has ended on the last rank. */
    private void all(Function<ProcessGroup, Work> operation, Runnable then) {
        AtomicInteger open = new AtomicInteger(ranks);
        for (int rank = 0; rank < ranks; rank++) {
            Work work = operation.apply(CountedRanks.group(simulation, rank));
            simulation.watch(work.completion().thenRun(() -> {
                if (open.decrementAndGet() == 0) {
                    then.run();
                }
            }));
        }
    }

    private void fail() {
        int victim = ranks / 2;
        for (int rank = 0; rank < ranks; rank++) {
            if (rank != victim) {
                CountedRanks.group(simulation, rank).barrierAsync().completion().whenComplete((done, failure) -> {
                    if (failure != null) {
                        failed.incrementAndGet();
                    }
                });
            }
        }
        simulation.mayFail();
        CountedRanks.strike(simulation, new Fault.Crash(0, victim));
    }
}
