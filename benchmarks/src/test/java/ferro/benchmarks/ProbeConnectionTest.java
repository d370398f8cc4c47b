package ferro.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Medium;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.spi.ForwardingBackend;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ProbeConnectionTest {
    private final ByteArrayOutputStream complaints = new ByteArrayOutputStream();

    @Test
    void ranksConnectAtTheAddressOfRankZero() throws Exception {
        List<Double> micros = probed("127.0.0.2", "127.0.0.3");

        assertTrue(micros.get(0) > 0, micros::toString);
        assertTrue(Double.isNaN(micros.get(1)) && Double.isNaN(micros.get(2)), micros::toString);
        assertEquals("", complaints.toString(StandardCharsets.UTF_8));
    }

    /** Brackets promise an address, so that nobody is asked for a name. */
    @Test
    void withoutAConnectionTheBenchmarkRunsWithoutAProbe() throws Exception {
        List<Double> micros = probed("[nowhere]", "127.0.0.3");

        assertTrue(micros.stream().allMatch(value -> value.isNaN()), micros::toString);
        String said = complaints.toString(StandardCharsets.UTF_8);
        assertEquals(1, said.lines().count(), said);
        assertTrue(said.startsWith("ferro bench: the results have no probe: ranks 0 and 1 cannot connect"), said);
        assertTrue(said.contains("[nowhere]: invalid IPv6 address"), said);
    }

    private List<Double> probed(String first, String second) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try (PrintStream out = new PrintStream(complaints, true, StandardCharsets.UTF_8)) {
            List<Future<Double>> ranks = new ArrayList<>();
            for (SimulatedBackend backend : SimulatedBackend.createGroup(3)) {
                ranks.add(threads.submit(() -> {
                    try (ProcessGroup group = ProcessGroup.of(new At(backend, List.of(first, second, second)));
                            WireProbe probe = WireProbe.open(group, out)) {
                        return probe.halfRoundTripMicros();
                    }
                }));
            }
            List<Double> micros = new ArrayList<>();
            for (Future<Double> rank : ranks) {
                micros.add(rank.get(30, TimeUnit.SECONDS));
            }
            return micros;
        } finally {
            threads.shutdownNow();
        }
    }

    /** A group whose ranks say that they are reached at addresses. */
    private static final class At extends ForwardingBackend {
        private final Medium told;

        At(SimulatedBackend inner, List<String> addresses) {
            super(inner);
            told = new Medium("addresses", addresses);
        }

        @Override
        public Medium medium() {
            return told;
        }
    }
}
