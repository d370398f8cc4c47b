package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.group.ProcessGroup;
import ferro.harness.Ranks;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Groups that span hosts: shared memory inside each, sockets between them. */
@Timeout(120)
class SpanningGroupTest {
    @ParameterizedTest
    @CsvSource({
        "a a b b, 'ranks 0-1 (host a) and 2-3 (host b) over shared memory'",
        "a b a b a, 'ranks 0, 2, 4 (host a) and 1, 3 (host b) over shared memory'",
        "a b c c, 'ranks 2-3 (host c) over shared memory, ranks 0 (host a) and 1 (host b)'"
    })
    void groupsOverHostsShareMemoryWithinAHostAndSumRight(String hosts, String report) {
        try (Ranks ranks = Ranks.onHosts(hosts.split(" "))) {
            for (ProcessGroup group : ranks.groups()) {
                String links = group.linkReport();
                assertEquals("data: " + report + ", between hosts over TCP (loopback)", links);
                assertEquals(
                        "TCP (loopback) between hosts, shared memory within hosts",
                        group.medium().text());
            }
            ranks.each(SpansHosts::tryEverything);
        }
    }

    @Test
    void callersOfAGroupOverHostsMayBeVirtualThreads() throws Exception {
        try (Ranks ranks = Ranks.onHosts("a", "a", "b")) {
            List<CompletableFuture<Void>> calls = new ArrayList<>();
            for (ProcessGroup group : ranks.groups()) {
                CompletableFuture<Void> done = new CompletableFuture<>();
                calls.add(done);
                start(() -> {
                    try {
                        SpansHosts.tryEverything(group);
                        done.complete(null);
                    } catch (Throwable failure) {
                        done.completeExceptionally(failure);
                    }
                });
            }
            for (CompletableFuture<Void> call : calls) {
                call.get(60, TimeUnit.SECONDS);
            }
        }
    }

    /** Starts a virtual thread where there are such, else a platform thread. */
    private static void start(Runnable task) throws ReflectiveOperationException {
        if (Runtime.version().feature() < 21) {
            new Thread(task, "test-rank").start();
            return;
        }
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }
}
