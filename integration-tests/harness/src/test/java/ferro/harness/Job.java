package ferro.harness;

import ferro.backend.tcp.TcpStoreServer;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/** Ranks of one group in processes of their own on this host, and their store. */
public final class Job implements AutoCloseable {
    private final TcpStoreServer store;
    private final List<Child> ranks = new ArrayList<>();

    /** Takes over a store, null where rank 0 serves it. */
    private Job(TcpStoreServer store) {
        this.store = store;
    }

    /** Starts the same command on each rank, over back end tcp where the variables name no other. */
    public static Job start(int worldSize, Map<String, String> variables, List<String> command) throws IOException {
        return start(worldSize, variables, rank -> command);
    }

    /** Starts a command on each rank, over back end tcp where the variables name no other. */
    public static Job start(int worldSize, Map<String, String> variables, IntFunction<List<String>> commands)
            throws IOException {
        TcpStoreServer store = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", worldSize, null);
        Map<String, String> all = new HashMap<>(Map.of("FERRO_BACKEND", "tcp", "FERRO_STORE_SERVED", "1"));
        all.put("FERRO_RENDEZVOUS", "tcp://127.0.0.1:" + store.port());
        all.putAll(variables);
        return new Job(store).started(worldSize, all, commands);
    }

    /** Starts a command on each rank as a user would by hand: rank 0 serves the store. */
    public static Job byHand(int worldSize, Map<String, String> variables, IntFunction<List<String>> commands)
            throws IOException {
        Map<String, String> all = new HashMap<>(Map.of("MASTER_ADDR", "127.0.0.1", "MASTER_PORT", "" + Ports.free()));
        all.putAll(variables);
        return new Job(null).started(worldSize, all, commands);
    }

    private Job started(int worldSize, Map<String, String> variables, IntFunction<List<String>> commands)
            throws IOException {
        try {
            for (int rank = 0; rank < worldSize; rank++) {
                Map<String, String> all = new HashMap<>(variables);
                all.putAll(Map.of("RANK", "" + rank, "WORLD_SIZE", "" + worldSize));
                all.putAll(Map.of("LOCAL_RANK", "" + rank, "LOCAL_WORLD_SIZE", "" + worldSize));
                ranks.add(Child.apart(all, commands.apply(rank)));
            }
            return this;
        } catch (IOException | RuntimeException failure) {
            close();
            throw failure;
        }
    }

    /** Runs a command on each rank, all of which must succeed, and returns the ranks with what they have printed. */
    public static List<Child> run(int worldSize, Map<String, String> variables, List<String> command)
            throws IOException, InterruptedException {
        try (Job job = start(worldSize, variables, command)) {
            return job.ended(0);
        }
    }

    public List<Child> ended(int code) throws InterruptedException {
        for (Child rank : ranks) {
            if (rank.exitCode() != code) {
                throw new AssertionError("a rank has not ended with exit code " + code + ":\n" + this);
            }
        }
        return ranks;
    }

    public Child rank(int rank) {
        return ranks.get(rank);
    }

    public List<Child> ranks() {
        return ranks;
    }

    @Override
    public void close() {
        ranks.forEach(Child::close);
        if (store != null) {
            store.close();
        }
    }

    @Override
    public String toString() {
        return ranks.stream().map(Child::toString).collect(Collectors.joining("\n"));
    }
}
