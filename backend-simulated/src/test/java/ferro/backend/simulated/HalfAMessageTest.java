package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.Work;
import ferro.control.failure.FailurePolicy;
import ferro.spi.CallHeader;
import ferro.spi.Transport;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A message of which no more comes: its receive ends at the deadline, whether it has begun or not. */
class HalfAMessageTest {
    private static final int RANKS = 4;
    private static final int SEEDS = 40;
    /** More than a message takes from submit to end. */
    private static final int STEPS = 80;

    private static final Duration DEADLINE = Duration.ofSeconds(1);
    /** The judgement comes at most 50 ms after a deadline; an idle rank looks every 10 ms. */
    private static final Duration JUDGED_BY_THEN = DEADLINE.plusMillis(100);

    private static final Map<String, String> SETTINGS =
            Map.of("ferro.timeout", "1h", "ferro.heartbeat.interval", "0s", "ferro.links", "tcp");

    @Test
    void aReceiveTimesOutWhereverItsSenderIsCutOff() {
        int underWay = 0;
        int whole = 0;
        for (int step = 0; step < STEPS; step++) {
            Simulation simulation =
                    Simulation.of(RANKS, 7 + step, SETTINGS).faults(List.of(new Fault.OneWayPartition(step, 2, 0)));
            FerroException failure = received(simulation, 100_000);
            if (failure == null) {
                whole++;
            } else {
                underWay += endedAtItsDeadline("step " + step, failure) ? 1 : 0;
            }
        }
        assertTrue(underWay > 0, "no message had begun");
        assertTrue(whole > 0, "no message came whole");
    }

    /**
     * Loses the elements of a message behind its envelope.
     *
     * @param length elements: sent at once, or announced first
     */
    @ParameterizedTest(name = "{0} ints")
    @ValueSource(ints = {100, 100_000})
    void aReceiveOfAnEnvelopeWithoutElementsTimesOut(int length) {
        for (int seed = 1; seed <= SEEDS; seed++) {
            SteppedRank.EngineInputs losing =
                    new SteppedRank.EngineInputs(HalfAMessageTest::losingElements, FailurePolicy.SHIPPED);
            Simulation simulation = new Simulation(RANKS, seed, SETTINGS, losing).mayFail();
            FerroException failure = received(simulation, length);
            assertTrue(endedAtItsDeadline("seed " + seed, failure), "begun: " + failure);
        }
    }

    private static Transport losingElements(Transport straight) {
        return BentTransport.linking(link -> new BentTransport.BentLink(link) {
                    @Override
                    public void send(CallHeader call, HostTensor data, long from, long count) {
                        if (data.dataType() != DataType.INT32) {
                            super.send(call, data, from, count);
                        }
                    }
                })
                .apply(straight);
    }

    /** Has rank 0 receive from rank 2; returns how the receive ended, null if well. */
    private static FerroException received(Simulation simulation, int length) {
        int[] sent = new int[length];
        Arrays.fill(sent, 7);
        int[] received = new int[length];
        Work[] receive = new Work[1];
        FerroException[] ended = new FerroException[1];
        simulation
                .onRank(2, group -> group.within(DEADLINE.multipliedBy(3)).sendAsync(HostTensor.of(sent), 0, 5))
                .onRank(0, group -> receive[0] = group.within(DEADLINE).recvAsync(HostTensor.of(received), 2, 5))
                .check(() -> {
                    if (received[length - 1] == 7) {
                        receive[0].await();
                        assertArrayEquals(sent, received, "what rank 2 sent");
                    } else {
                        ended[0] = assertThrows(FerroException.class, () -> receive[0].await());
                    }
                })
                .run();
        return ended[0];
    }

    /** Checks when a receive ended, and whom it blames; returns whether its message had begun. */
    private static boolean endedAtItsDeadline(String which, FerroException failure) {
        String said = which + ": " + failure.getMessage();
        assertEquals(Code.TIMED_OUT, failure.code(), said);
        assertTrue(failure.where().culprits().contains(2), said);
        assertTrue(failure.getMessage().contains("gave up on rank 2 after "), said);
        long nanos = failure.where().elapsed().toNanos();
        assertTrue(nanos >= DEADLINE.toNanos() && nanos <= JUDGED_BY_THEN.toNanos(), nanos + " ns, " + said);
        return failure.getMessage().contains("while the message was in flight");
    }
}
