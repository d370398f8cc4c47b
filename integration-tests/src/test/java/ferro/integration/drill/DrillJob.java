package ferro.integration.drill;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ferro.backend.tcp.TcpStoreServer;
import ferro.harness.Processes;
import ferro.integration.Links;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Ranks in processes of their own, joined to one group over a medium, and what is done to them. */
final class DrillJob implements AutoCloseable {
    static final int WORLD_SIZE = 4;
    static final Duration JOIN = Duration.ofSeconds(60);

    private final Jvms jvms;
    private final Cell cell;
    final TcpStoreServer store;
    /** File of the job's secret; null without. */
    private final Path secret;

    private final Map<Integer, RankJvm> ranks = new TreeMap<>();

    private DrillJob(Jvms jvms, Cell cell) throws IOException {
        this.jvms = jvms;
        this.cell = cell;
        byte[] bytes = "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
        boolean hasSecret = cell.medium() == Links.TLS;
        secret = hasSecret ? Files.createTempFile("ferro-drill", ".secret") : null;
        if (hasSecret) {
            Files.write(secret, bytes);
            secret.toFile().deleteOnExit();
        }
        store = TcpStoreServer.start(
                InetAddress.getLoopbackAddress(), 0, "default", WORLD_SIZE, hasSecret ? bytes : null);
    }

    /** Joins four ranks with settings of the engine over the cell's medium and no other; only victims may have lived before. */
    static DrillJob joined(Jvms jvms, Cell cell, Map<String, String> settings)
            throws IOException, InterruptedException {
        return joined(jvms, cell, cell.victims(), settings);
    }

    /** The same where these ranks' processes may have lived before. */
    static DrillJob joined(Jvms jvms, Cell cell, Collection<Integer> lived, Map<String, String> settings)
            throws IOException, InterruptedException {
        DrillJob job = new DrillJob(jvms, cell);
        try {
            for (int rank = 0; rank < WORLD_SIZE; rank++) {
                job.ranks.put(rank, lived.contains(rank) ? jvms.take(cell.heapMiB(rank)) : jvms.takeNew());
            }
            job.join(all(), JOIN, settings);
            for (RankJvm rank : job.ranks.values()) {
                cell.medium().assertFoundIn(rank.awaitTag("joined").text(), WORLD_SIZE);
            }
            return job;
        } catch (IOException | InterruptedException | RuntimeException | AssertionError failure) {
            job.close();
            throw failure;
        }
    }

    /** Closes the groups of all ranks and makes all but the victims join again. The caller reads how the joins end. */
    void joinAgain(Duration timeout) throws IOException, InterruptedException {
        tellAll(Line.of("close"));
        awaitAll("closed");
        join(but(cell.victims()).keySet(), timeout, Map.of());
    }

    private void join(Collection<Integer> present, Duration timeout, Map<String, String> settings) throws IOException {
        for (int rank : present) {
            ranks.get(rank).tell(joinAs(rank, timeout, settings));
        }
    }

    Line joinAs(int rank, Duration timeout, Map<String, String> settings) {
        Line join = join(rank, WORLD_SIZE, store.port(), cell.medium(), timeout).with("FERRO_STORE_SERVED", 1);
        if (secret != null) {
            join.with("FERRO_SECRET_FILE", secret);
        }
        settings.forEach(join::with);
        return join;
    }

    static Line join(int rank, int worldSize, int storePort, Links medium, Duration timeout) {
        Line join = Line.of("join")
                .with("ferro.rank", rank)
                .with("ferro.world.size", worldSize)
                .with("ferro.backend", "tcp")
                .with("ferro.rendezvous", "tcp://127.0.0.1:" + storePort)
                .with("LOCAL_RANK", rank)
                .with("LOCAL_WORLD_SIZE", worldSize)
                .with("timeout", timeout.toMillis());
        medium.settings().forEach(join::with);
        return join;
    }

    RankJvm rank(int rank) {
        return ranks.get(rank);
    }

    Map<Integer, RankJvm> but(Collection<Integer> left) {
        Map<Integer, RankJvm> others = new TreeMap<>(ranks);
        others.keySet().removeAll(left);
        return others;
    }

    /** Begins endless sums on all ranks and waits until they are warm. */
    void sum(Duration timeout, boolean leave) throws IOException, InterruptedException {
        Line sums = Line.of("sums")
                .with("elements", Drill.ELEMENTS)
                .with("timeout", timeout.toMillis())
                .with("warm", Drill.warmUpCalls())
                .with("leave", leave);
        tellAll(sums);
        awaitAll("going");
    }

    private void awaitAll(String tag) throws InterruptedException {
        for (RankJvm rank : ranks.values()) {
            rank.awaitTag(tag);
        }
    }

    void pause() throws IOException, InterruptedException {
        ranks.get(0).ask(Line.of("pause"));
        awaitAll("paused");
    }

    void watchLost() throws IOException, InterruptedException {
        for (RankJvm rank : ranks.values()) {
            rank.ask(Line.of("lost"));
            rank.awaitTag("watching");
        }
    }

    /** Closes the groups of some ranks, after the calls that they are in. */
    void close(Collection<RankJvm> some) throws IOException, InterruptedException {
        for (RankJvm rank : some) {
            rank.ask(Line.of("close"));
        }
        for (RankJvm rank : some) {
            rank.awaitTag("closed");
        }
    }

    void tellAll(Line command) throws IOException {
        for (RankJvm rank : ranks.values()) {
            rank.tell(command);
        }
    }

    /** Kills ranks as {@code kill -9} does, one right after the other; returns when the first was. */
    long kill(int... victims) {
        long at = System.nanoTime();
        for (int victim : victims) {
            Processes.kill(ranks.get(victim).pid());
        }
        return at;
    }

    void signal(int victim, String name) throws IOException, InterruptedException {
        Processes.signal(ranks.get(victim).pid(), name);
    }

    void assertNothingWrong() {
        ranks.forEach(
                (rank, jvm) -> assertFalse(jvm.hasSaid("wrong"), () -> "wrong sum on rank " + rank + "\n" + this));
        ranks.forEach((rank, jvm) ->
                assertEquals(List.of(), jvm.falseLines(), () -> "empty or false lines of rank " + rank + "\n" + this));
    }

    static List<Integer> all() {
        return IntStream.range(0, WORLD_SIZE).boxed().toList();
    }

    /** Lets go of the store, and of the processes: those that still run and hold no group may serve another job. */
    @Override
    public void close() {
        store.close();
        jvms.giveBack(new ArrayList<>(ranks.values()));
    }

    @Override
    public String toString() {
        return ranks.entrySet().stream()
                .map(entry -> "rank " + entry.getKey() + ", " + entry.getValue())
                .collect(Collectors.joining("\n"));
    }
}
