package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.Work;
import ferro.backend.simulated.SimulatedBackend;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The examples on the page docs/guide/failures.md that are no whole program, and docs/guide/threads.md. */
class FailureSnippetsTest {
    @Test
    void aListenerReceivesAFailureWithoutACall() {
        List<String> report = new CopyOnWriteArrayList<>();
        SimulatedBackend.run(3, group -> {
            if (group.rank() == 2) {
                group.barrier();
                SimulatedBackend.of(group).kill(2);
                return;
            }
            // @start region="listener"
            CountDownLatch failed = new CountDownLatch(1);
            group.onEvent(event -> {
                switch (event.kind()) {
                    case LATE, SUSPECTED, RECOVERED, PAUSED -> System.out.println(event.text());
                    case FAILED -> failed.countDown(); // the last event
                }
            });
            // @end
            group.barrier();
            assertTrue(failed.await(20, TimeUnit.SECONDS), "no listener heard of the death of rank 2");
            // @start region="failure"
            if (group.failure().isPresent()) {
                FerroException failure = group.failure().get();
                report.add(failure.code() + " by ranks " + failure.where().culprits() + ", lost " + group.lost());
            }
            // @end
            assertEquals(Code.PEER_LOST, group.failure().orElseThrow().code());
            assertEquals(Set.of(2), group.failure().orElseThrow().where().culprits());
        });
        assertEquals(List.of("PEER_LOST by ranks [2], lost [2]", "PEER_LOST by ranks [2], lost [2]"), report);
    }

    @Test
    void theFirstAnswerIsReceivedFirst() {
        List<Integer> report = new CopyOnWriteArrayList<>();
        SimulatedBackend.run(3, group -> {
            if (group.rank() > 0) {
                group.send(new int[] {10 * group.rank()}, 0, 7);
                return;
            }
            // @start region="answers"
            BlockingQueue<Integer> ended = new LinkedBlockingQueue<>();
            Map<Integer, Work> answers = new HashMap<>();
            int[][] results = new int[group.worldSize()][1];
            for (int worker = 1; worker < group.worldSize(); worker++) {
                int from = worker;
                answers.put(from, group.recvAsync(results[from], from, 7));
                answers.get(from).completion().whenComplete((done, failure) -> ended.add(from)); // also if it failed
            }
            for (int left = answers.size(); left > 0; left--) {
                int from = ended.take();
                answers.get(from).await(); // throws the FerroException if the receive failed
                report.add(results[from][0]);
            }
            // @end
        });
        assertEquals(Set.of(10, 20), Set.copyOf(report));
    }

    @Test
    void aStageOfAFailedCallReceivesACompletionException() {
        SimulatedBackend.run(2, group -> {
            if (group.rank() == 1) {
                SimulatedBackend.of(group).kill(1);
                return;
            }
            Work work = group.barrierAsync();
            Throwable received = work.completion()
                    .handle((done, failure) -> failure)
                    .toCompletableFuture()
                    .get(20, TimeUnit.SECONDS);
            assertInstanceOf(CompletionException.class, received);
            assertEquals(
                    Code.PEER_LOST,
                    assertInstanceOf(FerroException.class, received.getCause()).code());
            assertEquals(
                    Code.PEER_LOST,
                    assertThrows(FerroException.class, work::await).code());
        });
    }
}
