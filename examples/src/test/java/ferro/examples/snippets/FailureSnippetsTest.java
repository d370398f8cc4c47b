package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.simulated.SimulatedBackend;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The examples on the page docs/guide/failures.md that are no whole program. */
class FailureSnippetsTest {
    @Test
    void aListenerHearsOfAFailureWithoutACall() {
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
}
