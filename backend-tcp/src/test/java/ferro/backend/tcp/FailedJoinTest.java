package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.Store;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.Sockets;
import ferro.backend.tcp.net.Threads;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a join that fails leaves in a context that goes on, and may join again: nothing. */
@Timeout(120)
class FailedJoinTest {
    private static final int RANKS = 3;
    private static final Map<String, String> HASTY = Map.of("ferro.join.timeout", "300ms");
    private static final Map<String, String> REFUSED = Map.of("ferro.links", "shm");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** Why a join fails. */
    private enum Failing {
        RANKS_ARE_MISSING {
            @Override
            List<CompletableFuture<ProcessGroup>> in(TcpJob job) {
                return List.of(
                        job.joining("missing", 0, job.context(HASTY)), job.joining("missing", 2, job.context(HASTY)));
            }
        },
        ITS_SETTINGS_ARE_REFUSED {
            @Override
            List<CompletableFuture<ProcessGroup>> in(TcpJob job) {
                return List.of(job.joining("refused", 1, job.context(REFUSED)));
            }
        },
        THE_SETTINGS_OF_ANOTHER_RANK_ARE_REFUSED {
            @Override
            List<CompletableFuture<ProcessGroup>> in(TcpJob job) {
                return List.of(job.joining("other", 0, job.context()), job.joining("other", 1, job.context(REFUSED)));
            }
        },
        ANOTHER_PROCESS_HAS_ITS_RANK {
            @Override
            List<CompletableFuture<ProcessGroup>> in(TcpJob job) {
                return List.of(job.joining("taken", 1, job.context(HASTY)));
            }
        },
        THE_STORE_IS_GONE {
            @Override
            List<CompletableFuture<ProcessGroup>> in(TcpJob job) throws IOException {
                Map<String, String> settings = Map.of(
                        "ferro.join.timeout", "300ms", "ferro.rendezvous", "tcp://127.0.0.1:" + Sockets.freePort());
                return List.of(job.joining("gone", 0, job.context(settings)));
            }
        },
        ITS_THREAD_IS_INTERRUPTED {
            @Override
            List<CompletableFuture<ProcessGroup>> in(TcpJob job) {
                SystemContext context = job.context();
                return List.of(Threads.start(() -> {
                    Thread.currentThread().interrupt();
                    return Groups.join(GroupSpec.of("interrupted", 0, RANKS, Ranks.LONG), context);
                }));
            }
        };

        /** Begins joins that all fail. */
        abstract List<CompletableFuture<ProcessGroup>> in(TcpJob job) throws IOException;
    }

    @ParameterizedTest
    @EnumSource
    void aJoinThatFailsLeavesNoThreadAndNoDescriptor(Failing why) throws IOException {
        try (TcpJob job = new TcpJob(RANKS, Ranks.LONG, Map.of())) {
            if (why == Failing.ANOTHER_PROCESS_HAS_ITS_RANK) {
                job.joining("taken", 1, job.context());
                awaitCard(job, "taken/1/card/1");
            }
            // the first one loads classes, whose files stay open
            fails(job, why);
            Held before = Held.withoutContexts();

            fails(job, why);

            before.awaitNoMore(Held::withoutContexts, PATIENCE);
        }
    }

    private static void fails(TcpJob job, Failing why) throws IOException {
        for (CompletableFuture<ProcessGroup> joining : new ArrayList<>(why.in(job))) {
            assertThrows(CompletionException.class, () -> Ranks.result(joining), why::toString);
        }
    }

    /** Waits until a rank has taken its place. */
    private static void awaitCard(TcpJob job, String key) {
        GroupSpec spec = GroupSpec.of("looks", 0, RANKS, Ranks.LONG);
        URI address = URI.create("tcp://127.0.0.1:" + job.store.port());
        try (Store store = new TcpStoreProvider().open(address, spec, job.context())) {
            store.get(key, PATIENCE);
        }
    }
}
