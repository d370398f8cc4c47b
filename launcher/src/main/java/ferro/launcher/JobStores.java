package ferro.launcher;

import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.store.EndedRanks;
import ferro.launcher.JobSecrets.NamedSecret;
import ferro.launcher.input.Endpoint;
import ferro.launcher.input.JobSpec;
import ferro.launcher.nodes.LauncherConnections;
import ferro.launcher.nodes.LauncherEntry;
import ferro.launcher.rank.JobEvent;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The stores of a job, which the launcher of node 0 serves. If the job never starts again, ranks and launchers share
 * one store. If the job may start again, launchers of several nodes keep one store through all generations, and the
 * ranks of each generation get a new store.
 *
 * <p>On one node, the store of a generation uses the port of the previous store if the port is still free. On several
 * nodes, the store of ranks uses the port after the launchers' port if that port is free. Therefore, if a suspended
 * rank of an earlier generation resumes, the rank usually reaches a server that refuses its job name.
 */
final class JobStores implements AutoCloseable {
    private static final int LAST_PORT = 65_535;

    private final JobSpec spec;
    private final JobSecrets keys;
    private final Consumer<String> notes;
    private Optional<RankStore> launchers = Optional.empty();
    private Optional<RankStore> ranks = Optional.empty();
    private AtomicInteger refused = new AtomicInteger();

    JobStores(JobSpec spec, JobSecrets keys, Consumer<String> notes) {
        this.spec = spec;
        this.keys = keys;
        this.notes = notes;
    }

    /**
     * Opens the stores that this launcher serves for a generation. Closes the store of the previous generation.
     *
     * @param events queue that receives the event that all ranks have joined
     */
    void open(int generation, BlockingQueue<JobEvent> events) throws IOException {
        boolean apart = spec.restarts().areAny() && spec.placement().nodes() > 1;
        if (launchers.isEmpty() && apart) {
            launchers = Optional.of(RankStore.open(spec, keys.ofJob(), new LinkedBlockingQueue<>(), notes));
        }
        if (apart && !spec.placement().servesStore()) {
            return;
        }
        NamedSecret key = keys.ofRanks(generation);
        Optional<RankStore> known = launchers.or(() -> ranks);
        ranks.ifPresent(RankStore::close);
        RankStore opened = known.isPresent()
                ? known.get().forRanks(wantedPort(), key, spec.placement().worldSize(), events)
                : RankStore.open(spec, key, events, notes);
        ranks = Optional.of(opened);
        opened.server().ifPresent(server -> serve(server, generation));
    }

    /**
     * Returns the port after the launchers' port, so that a firewall can let ranks through. Without a store of
     * launchers, returns the present port of the ranks' store. If the port is not free, the store uses any other port.
     */
    private int wantedPort() {
        if (launchers.isEmpty()) {
            return ranks.orElseThrow().endpoint().port();
        }
        int first = launchers.get().endpoint().port();
        return first < LAST_PORT ? first + 1 : 0;
    }

    private void serve(TcpStoreServer server, int generation) {
        AtomicInteger count = new AtomicInteger();
        refused = count;
        server.onOtherJob((job, from) -> {
            OptionalInt other = keys.generation(job);
            if (spec.restarts().areAny() && other.isPresent() && count.incrementAndGet() == 1) {
                notes.accept("refused a process of generation " + other.getAsInt() + " at " + from + ": generation "
                        + generation + " runs now; more such processes are only counted");
            }
        });
        launchers
                .flatMap(RankStore::server)
                .ifPresent(all -> all.onSet((key, value) -> LauncherConnections.endedRank(key, generation)
                        .ifPresent(rank -> server.set(EndedRanks.key(rank), value))));
    }

    /** Prints how many processes of other generations were refused, if the number is greater than one. */
    void printRefused() {
        int count = refused.get();
        if (count > 1) {
            notes.accept(count + " connections of processes of other generations were refused");
        }
    }

    /** Returns the address of the store that launchers use for their rendezvous. */
    Endpoint meetingPoint() {
        return launchers.or(() -> ranks).orElseThrow().endpoint();
    }

    /** Returns the port of the ranks' store for the other launchers; 0 if ranks use the store of the launchers. */
    int ranksPort() {
        return launchers.isEmpty()
                ? 0
                : ranks.map(host -> host.endpoint().port()).orElse(0);
    }

    /**
     * Returns the store of the ranks.
     *
     * @param entries entries of all launchers
     */
    RankStore ofRanks(List<LauncherEntry> entries) {
        return ranks.orElseGet(() ->
                new RankStore(new Endpoint(meetingPoint().host(), entries.get(0).storePort())));
    }

    @Override
    public void close() {
        ranks.ifPresent(RankStore::close);
        launchers.ifPresent(RankStore::close);
    }
}
