package ferro.integration;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.tcp.TcpStoreServer;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.PortRange;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;

/** A program with a class loader of its own, which runs a job on threads that outlive it: each rank on one. */
public final class UsesFerroInALoader implements BiFunction<ExecutorService, String, Object> {
    static final int RANKS = 2;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Runs a job with these links; returns the names of the threads that were ranks. */
    @Override
    public Object apply(ExecutorService threads, String links) {
        byte[] secret = "a secret of this test, long enough".getBytes(StandardCharsets.UTF_8);
        try (TcpStoreServer store =
                TcpStoreServer.start(InetAddress.getLoopbackAddress(), PortRange.of("0"), "default", RANKS, secret)) {
            List<Future<String>> ranks = new ArrayList<>();
            for (int rank = 0; rank < RANKS; rank++) {
                JoinOptions options = JoinOptions.of(rank, RANKS)
                        .local(rank, RANKS)
                        .storeAt(store.endpoint())
                        .secret(secret)
                        .timeout(PATIENCE)
                        .setting("ferro.backend", "tcp");
                for (Map.Entry<String, String> setting :
                        Links.valueOf(links).settings().entrySet()) {
                    options = options.setting(setting.getKey(), setting.getValue());
                }
                JoinOptions own = options;
                ranks.add(threads.submit(inLoaderOf(getClass(), () -> calls(own))));
            }
            Set<String> names = new HashSet<>();
            for (Future<String> rank : ranks) {
                names.add(rank.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            }
            return names;
        } catch (Exception failure) {
            throw new IllegalStateException("the job over " + links + " failed", failure);
        }
    }

    /** Makes the loader of a program the context loader for the time of a call, as the container of the program does. */
    static <T> Callable<T> inLoaderOf(Class<?> program, Callable<T> call) {
        return () -> {
            Thread thread = Thread.currentThread();
            ClassLoader before = thread.getContextClassLoader();
            thread.setContextClassLoader(program.getClassLoader());
            try {
                return call.call();
            } finally {
                thread.setContextClassLoader(before);
            }
        };
    }

    private static String calls(JoinOptions options) {
        try (SystemContext context = SystemContext.of(options);
                ProcessGroup group = context.join();
                ProcessGroup other = group.newGroup(0, 1)) {
            group.allReduce(new float[] {1}, ReduceOp.SUM);
            other.allReduceAsync(HostTensor.of(new float[100_000]), ReduceOp.SUM)
                    .completion()
                    .toCompletableFuture()
                    .join();
            if (group.rank() == 0) {
                group.send(new int[100_000], 1, 3);
            } else {
                group.recv(new int[100_000], 0, 3);
            }
            group.barrier();
            return Thread.currentThread().getName();
        }
    }
}
