package ferro.integration;

import ferro.Allocation;
import ferro.DataType;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.Codec;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.training.GradientBuckets;
import ferro.training.Parameter;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import ferro.training.checkpoint.NamedTensor;
import ferro.training.checkpoint.TrainingState;
import ferro.training.optimizer.ShardedOptimizer;
import ferro.training.optimizer.UpdateRule;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;

/**
 * A program with a class loader of its own, which trains on threads that outlive it: rank 0 serves the store, checkpoints are
 * saved and loaded, flight records are written, and a group is aborted.
 */
public final class TrainsInALoader implements BiFunction<ExecutorService, String, Object> {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final byte[] SECRET = "a secret of this test, long enough".getBytes(StandardCharsets.UTF_8);

    /** Trains with files in a folder; returns the names of the threads that were ranks. */
    @Override
    public Object apply(ExecutorService threads, String folder) {
        CompletableFuture<String> store = new CompletableFuture<>();
        try {
            Future<String> first = threads.submit(UsesFerroInALoader.inLoaderOf(
                    getClass(), () -> trained(options(0).serveStore("127.0.0.1", "0"), folder, store)));
            JoinOptions other = options(1).storeAt(store.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            Future<String> second = threads.submit(
                    UsesFerroInALoader.inLoaderOf(getClass(), () -> trained(other, folder, new CompletableFuture<>())));
            Set<String> names = new HashSet<>();
            names.add(first.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            names.add(second.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            return names;
        } catch (Exception failure) {
            throw new IllegalStateException("the training in " + folder + " failed", failure);
        }
    }

    private static JoinOptions options(int rank) {
        return JoinOptions.of(rank, UsesFerroInALoader.RANKS)
                .local(rank, UsesFerroInALoader.RANKS)
                .secret(SECRET)
                .timeout(PATIENCE);
    }

    private static String trained(JoinOptions options, String folder, CompletableFuture<String> store) {
        JoinOptions recorded = options.setting("ferro.recorder.dir", folder + "/records");
        try (SystemContext context = SystemContext.of(recorded)) {
            store.complete(context.storeEndpoint());
            try (ProcessGroup group = context.join()) {
                group.onEvent(event -> {});
                group.objects(Codec.utf8()).allGather("rank " + group.rank());
                try (Allocation shared = group.allocate(DataType.FLOAT32, 1000)) {
                    group.allReduce(shared.tensor(), ReduceOp.MAX);
                }
                train(group, Path.of(folder));
                abort(group.newGroup(0, 1));
            }
            return Thread.currentThread().getName();
        } catch (RuntimeException failure) {
            store.completeExceptionally(failure);
            throw failure;
        }
    }

    private static void train(ProcessGroup group, Path folder) {
        HostTensor weight = HostTensor.of(new float[] {1, 2, 3});
        TrainingState state = TrainingState.of(List.of(NamedTensor.of("weight", weight, 3)));
        Parameter slope = Parameter.of("slope", DataType.FLOAT32, 1);
        try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder.resolve("states")));
                GradientBuckets buckets = GradientBuckets.builder(group)
                        .parameters(List.of(slope))
                        .sharded(true)
                        .build();
                ShardedOptimizer optimizer = ShardedOptimizer.over(buckets, UpdateRule.adamW())) {
            long begun =
                    checkpoints.latest().isPresent() ? checkpoints.load(state).step() : 0;
            for (long step = begun + 1; step <= begun + 2; step++) {
                buckets.gradient(0).setFloat(0, step);
                buckets.ready(0);
                optimizer.step();
                checkpoints.saveAsync(step, state);
            }
            checkpoints.save(begun + 3, state);
        }
    }

    /** Ends a group by a failure that both ranks see. */
    private static void abort(ProcessGroup group) {
        try (group) {
            if (group.rank() == 0) {
                group.abort(new IllegalStateException("a failure of this program"));
            }
            group.barrier();
            throw new AssertionError("the barrier of an aborted group succeeded");
        } catch (FerroException aborted) {
            // both ranks end the group so
            return;
        }
    }
}
