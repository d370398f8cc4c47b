package ferro.benchmarks.scale;

import ferro.FerroException;
import ferro.ReduceOp;
import ferro.backend.simulated.CountedRanks;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/** Ranks on platform threads of one JVM. */
final class ThreadsRow {
    private static final Map<String, String> SETTINGS = Map.of("ferro.timeout", "10m");
    private static final long STACK_BYTES = 512 << 10;
    /** How late the straggler is: 8 s with 128 ranks. */
    private static final Duration LATE_FOR_EACH_RANK = Duration.ofMillis(8000).dividedBy(128);

    private static final double STOPPED_SECONDS = 0.4;
    private static final double OBSERVED_SECONDS = 3;

    private ThreadsRow() {}

    @FunctionalInterface
    private interface Body {
        void run(ProcessGroup group) throws InterruptedException, BrokenBarrierException;
    }

    static void phases(int ranks) throws InterruptedException {
        Meter meter = new Meter();
        List<ProcessGroup> groups = made(ranks);
        meter.lap("construction");
        meter.forget();
        inPhases(meter, groups);
        List<ProcessGroup> aborted = made(ranks);
        meter.restart();
        untilAborted(meter, aborted);
        meter.sum("all but construction");
    }

    private static List<ProcessGroup> made(int ranks) {
        return SimulatedBackend.createGroup(ranks, SETTINGS).stream()
                .map(ProcessGroup::of)
                .toList();
    }

    private static void inPhases(Meter meter, List<ProcessGroup> groups) throws InterruptedException {
        int side = (int) Math.round(Math.sqrt(groups.size()));
        CyclicBarrier begun = new CyclicBarrier(groups.size(), meter::restart);
        List<CyclicBarrier> ends = new ArrayList<>();
        for (String phase : List.of("barrier", "allReduce", "split", "close")) {
            ends.add(new CyclicBarrier(groups.size(), () -> meter.lap(phase)));
        }
        onThreads(groups, group -> {
            begun.await();
            group.barrier();
            ends.get(0).await();
            float[] one = {group.rank() + 1};
            group.allReduce(one, ReduceOp.SUM);
            ends.get(1).await();
            Optional<ProcessGroup> part = group.split(group.rank() / side, group.rank());
            ends.get(2).await();
            part.ifPresent(ProcessGroup::close);
            group.close();
            ends.get(3).await();
        });
    }

    private static void untilAborted(Meter meter, List<ProcessGroup> groups) throws InterruptedException {
        CyclicBarrier begun = new CyclicBarrier(groups.size(), meter::restart);
        CyclicBarrier known = new CyclicBarrier(groups.size(), () -> meter.lap("abort"));
        CyclicBarrier closed = new CyclicBarrier(groups.size(), () -> meter.lap("close after abort"));
        onThreads(groups, group -> {
            begun.await();
            if (group.rank() == 0) {
                group.abort(new IllegalStateException("measured"));
            } else {
                failingBarrier(group);
            }
            known.await();
            try {
                group.close();
            } catch (FerroException expected) {
                // the group has failed
            }
            closed.await();
        });
    }

    private static void failingBarrier(ProcessGroup group) {
        try {
            group.barrier();
        } catch (FerroException expected) {
            return;
        }
        throw new IllegalStateException("rank " + group.rank() + " passed a barrier without rank 0");
    }

    static void straggler(int ranks) throws InterruptedException {
        MessageCounts counts = new MessageCounts(ranks);
        Meter meter = new Meter();
        List<ProcessGroup> groups = CountedRanks.onThreads(ranks, withoutHeartbeats(), counts);
        Duration late = LATE_FOR_EACH_RANK.multipliedBy(ranks);
        meter.lap("construction");
        counts.restart();
        onThreads(groups, group -> {
            if (group.rank() == 0) {
                Thread.sleep(late.toMillis());
            }
            group.barrier();
        });
        meter.lap("barrier, one rank late");
        Meter.print("queries", counts.ofGroups(MessageCounts.QUERY), "messages");
    }

    /**
     * Counts the heartbeats of ranks in a time in which their process is stopped, beside those of a time without a stop. The
     * interval between heartbeats is longer than both times, so that only the stop causes heartbeats.
     */
    static void pause(int ranks) throws IOException, InterruptedException {
        MessageCounts counts = new MessageCounts(ranks);
        List<ProcessGroup> groups = CountedRanks.onThreads(ranks, withRareHeartbeats(), counts);
        onThreads(groups, ProcessGroup::barrier);
        for (double seconds : new double[] {0, STOPPED_SECONDS}) {
            counts.restart();
            String stop = seconds == 0 ? "" : "kill -STOP $0; sleep " + seconds + "; kill -CONT $0; ";
            String command = stop + "sleep " + (OBSERVED_SECONDS - seconds);
            new ProcessBuilder("sh", "-c", command, "" + ProcessHandle.current().pid())
                    .start()
                    .waitFor();
            String name = seconds == 0 ? "without a stop" : "with a stop of " + seconds + " s";
            Meter.print(
                    "heartbeats in " + OBSERVED_SECONDS + " s " + name + ", per rank",
                    (double) counts.ofMembership() / ranks,
                    "messages");
        }
    }

    private static Map<String, String> withRareHeartbeats() {
        return Map.of(
                "ferro.timeout",
                "10m",
                "ferro.heartbeat.interval",
                "60s",
                "ferro.heartbeat.suspect",
                "150s",
                "ferro.heartbeat.limit",
                "300s");
    }

    private static Map<String, String> withoutHeartbeats() {
        return Map.of("ferro.timeout", "10m", "ferro.heartbeat.interval", "0s");
    }

    static void openGroup(int ranks) throws InterruptedException {
        List<ProcessGroup> groups = made(ranks);
        onThreads(groups, ProcessGroup::barrier);
        System.out.println(ExitRow.OPEN);
        System.out.flush();
        System.exit(0);
    }

    private static void onThreads(List<ProcessGroup> groups, Body body) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (ProcessGroup group : groups) {
            Thread thread = new Thread(
                    null,
                    () -> {
                        try {
                            body.run(group);
                        } catch (InterruptedException | BrokenBarrierException | RuntimeException failed) {
                            failed.printStackTrace();
                            Runtime.getRuntime().halt(1);
                        }
                    },
                    "rank-" + group.rank(),
                    STACK_BYTES);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
