package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.GroupEvent;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Ranks in this JVM, a thread each, over the simulated medium, shared memory or sockets; closes what it opened. */
final class InProcessRanks implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 300;

    final List<ProcessGroup> groups;
    final List<ConcurrentLinkedQueue<GroupEvent>> events = new ArrayList<>();
    private final LoopbackRanks ranks;

    private InProcessRanks(LoopbackRanks ranks, List<ProcessGroup> groups) {
        this.ranks = ranks;
        this.groups = groups;
        for (ProcessGroup group : groups) {
            ConcurrentLinkedQueue<GroupEvent> heard = new ConcurrentLinkedQueue<>();
            events.add(heard);
            group.onEvent(heard::add);
        }
    }

    static InProcessRanks simulated(int worldSize) {
        return new InProcessRanks(
                new LoopbackRanks(Map.of()),
                SimulatedBackend.createGroup(worldSize).stream()
                        .map(ProcessGroup::of)
                        .toList());
    }

    /** Ranks over {@code simulated}, or over links that are {@code tcp} or {@code shm} by what they say themselves. */
    static InProcessRanks over(String medium, int worldSize) {
        return medium.equals("simulated") ? simulated(worldSize) : over(medium, worldSize, Map.of());
    }

    /** Ranks over links that are {@code tcp} or {@code shm} by what they say themselves, with more settings. */
    static InProcessRanks over(String medium, int worldSize, Map<String, String> more) {
        Links links = Links.valueOf(medium.toUpperCase(Locale.ROOT));
        Map<String, String> settings = new HashMap<>(links.settings());
        settings.putAll(more);
        InProcessRanks ranks = joined(Collections.nCopies(worldSize, settings));
        try {
            ranks.groups.forEach(group -> links.assertFoundIn(group.linkReport(), worldSize));
            return ranks;
        } catch (AssertionError other) {
            ranks.close();
            throw other;
        }
    }

    /** Ranks that count as being on the hosts of these names. */
    static InProcessRanks onHosts(String... hosts) {
        return joined(Stream.of(hosts).map(host -> Map.of("ferro.host", host)).toList());
    }

    private static InProcessRanks joined(List<Map<String, String>> settingsByRank) {
        LoopbackRanks ranks = new LoopbackRanks(Map.of());
        return new InProcessRanks(ranks, ranks.joined(Duration.ofSeconds(30), settingsByRank));
    }

    /** Runs something on a thread of a rank's. */
    Future<Ended> start(int rank, Consumer<ProcessGroup> call) {
        return start(groups.get(rank), call);
    }

    /** Runs something on a thread of its own. */
    Future<Ended> start(ProcessGroup group, Consumer<ProcessGroup> call) {
        return ranks.threads.submit(() -> {
            try {
                call.accept(group);
                return new Ended(null, System.nanoTime());
            } catch (FerroException failure) {
                return new Ended(failure, System.nanoTime());
            }
        });
    }

    /** Runs something on all ranks at once; index = rank. */
    List<Ended> all(Consumer<ProcessGroup> call) {
        List<Future<Ended>> running = new ArrayList<>();
        for (int rank = 0; rank < groups.size(); rank++) {
            running.add(start(rank, call));
        }
        return running.stream().map(InProcessRanks::result).toList();
    }

    /** Waits, within a bound, until something is so. */
    static void until(String what, BooleanSupplier so) {
        long begun = System.nanoTime();
        while (!so.getAsBoolean()) {
            assertTrue(System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS), what);
            Thread.yield();
        }
    }

    static <T> T result(Future<T> future) {
        try {
            return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            throw new AssertionError("a rank failed: " + failed.getCause(), failed.getCause());
        } catch (InterruptedException | TimeoutException late) {
            throw new AssertionError("not done within " + PATIENCE_SECONDS + " s", late);
        }
    }

    /**
     * How a rank's call ended.
     *
     * @param failure null if well
     * @param atNanos when
     */
    record Ended(FerroException failure, long atNanos) {}

    @Override
    public void close() {
        List<CompletableFuture<Void>> closing = new ArrayList<>();
        for (ProcessGroup group : groups) {
            closing.add(CompletableFuture.runAsync(() -> close(group), ranks.threads));
        }
        closing.forEach(InProcessRanks::result);
        ranks.close();
    }

    private static void close(ProcessGroup group) {
        try {
            group.close(Duration.ofSeconds(2));
        } catch (FerroException told) {
            // a failure that nobody has heard of is told at the end, too
            assertTrue(group.failure().isPresent(), told.toString());
        }
    }
}
