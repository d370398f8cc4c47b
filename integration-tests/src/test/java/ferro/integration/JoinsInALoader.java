package ferro.integration;

import ferro.group.JoinOptions;
import ferro.group.SystemContext;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.function.BiFunction;

/** A program with a class loader of its own, in which two ranks join. Rank 0 serves the store. */
public final class JoinsInALoader implements BiFunction<ExecutorService, String, Object> {
    static final Duration DEADLINE = Duration.ofSeconds(30);

    /** Joins with this value of ferro.tls; returns the first failure, or nothing. */
    @Override
    public Object apply(ExecutorService threads, String tls) {
        try (SystemContext first = SystemContext.of(options(0, tls).serveStore("127.0.0.1", "0"));
                SystemContext second = SystemContext.of(options(1, tls).storeAt(first.storeEndpoint()))) {
            CompletionService<Void> ranks = new ExecutorCompletionService<>(threads);
            for (SystemContext context : List.of(first, second)) {
                ranks.submit(UsesFerroInALoader.inLoaderOf(getClass(), () -> {
                    context.join().close();
                    return null;
                }));
            }
            for (int rank = 0; rank < 2; rank++) {
                ranks.take().get();
            }
            return List.of();
        } catch (ExecutionException failed) {
            return List.of(failed.getCause());
        } catch (LinkageError | RuntimeException | InterruptedException failure) {
            return List.of(failure);
        }
    }

    private static JoinOptions options(int rank, String tls) {
        return JoinOptions.of(rank, 2)
                .local(rank, 2)
                .secret("a secret of this test, long enough".getBytes(StandardCharsets.UTF_8))
                .timeout(DEADLINE)
                .setting("ferro.backend", "tcp")
                .setting("ferro.links", "tcp")
                .setting("ferro.tls", tls);
    }
}
