package ferro.collectives.engine.exec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.Collective.AllGather;
import ferro.Collective.AllReduce;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.algorithm.AlgorithmChoice;
import ferro.collectives.engine.operands.Prepared;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Plans are made once. */
class PlannerTest {
    private static final GroupSpec PAIR = new GroupSpec("world", 0, 2, Duration.ofSeconds(1));

    private final Planner planner = new Planner(PAIR, SystemContext.of(Map.of()), 7, AlgorithmChoice.of(""));

    private static Collective allReduce(int length) {
        HostTensor data = HostTensor.of(new float[length]);
        return new AllReduce(data, data, ReduceOp.SUM);
    }

    @Test
    void lengthsOfEveryPowerOfTwoAreKeptTogether() {
        List<Prepared> made = new ArrayList<>();
        for (int bit = 0; bit < 20; bit++) {
            made.add(planner.prepare(allReduce(1 << bit)));
        }

        for (int bit = 0; bit < 20; bit++) {
            assertSame(made.get(bit), planner.prepare(allReduce(1 << bit)), "2^" + bit + " elements");
        }
    }

    @Test
    void multipliedSumsOfOneFactorShareAPlanHoweverOftenTheOpIsMade() {
        HostTensor data = HostTensor.of(new float[8]);

        Prepared half = planner.prepare(new AllReduce(data, data, ReduceOp.preMultipliedSum(0.5)));

        assertSame(half, planner.prepare(new AllReduce(data, data, ReduceOp.preMultipliedSum(0.5))));
        assertNotSame(half, planner.prepare(new AllReduce(data, data, ReduceOp.preMultipliedSum(0.25))));
    }

    @Test
    void averagesOfIntegersAreNamedAsTheyWereCalledAndTravelAsSumsOf64Bits() {
        HostTensor bytes = HostTensor.of(new byte[8]);
        HostTensor longs = HostTensor.of(new long[8]);

        Prepared ofBytes = planner.prepare(new AllReduce(bytes, bytes, ReduceOp.AVG));
        Prepared ofLongs = planner.prepare(new AllReduce(longs, longs, ReduceOp.AVG));
        Prepared sum = planner.prepare(new AllReduce(longs, longs, ReduceOp.SUM));

        assertTrue(ofBytes.text().startsWith("allReduce i8[8] avg by "), ofBytes.text());
        assertEquals(8, ofBytes.bytes);
        assertEquals(sum.bytesMoved, ofBytes.bytesMoved, "a number for each element");
        assertEquals(64, ofLongs.bytes);
        assertEquals(2 * sum.bytesMoved, ofLongs.bytesMoved, "two numbers for each element");
        assertNotEquals(sum.call.fingerprint(), ofLongs.call.fingerprint());
        assertSame(ofLongs, planner.prepare(new AllReduce(longs, longs, ReduceOp.AVG)));
    }

    @Test
    void usersOpsShareAPlanWhereNameAndCodeAreTheSame() {
        HostTensor data = HostTensor.of(new float[8]);
        ReduceOp.Combiner first = (into, received) -> {};
        ReduceOp.Combiner second = (into, received) -> {};

        Prepared kept = planner.prepare(new AllReduce(data, data, ReduceOp.of("first", first)));

        assertSame(kept, planner.prepare(new AllReduce(data, data, ReduceOp.of("first", first))));
        assertNotSame(kept, planner.prepare(new AllReduce(data, data, ReduceOp.of("first", second))));
        assertNotSame(kept, planner.prepare(new AllReduce(data, data, ReduceOp.of("other", first))));
    }

    @Test
    void callsThatDifferInOneThingDifferInTheirPlan() {
        Prepared plain = planner.prepare(allReduce(8));
        HostTensor data = HostTensor.of(new float[8]);
        HostTensor half = HostTensor.of(new float[4]);

        assertNotSame(plain, planner.prepare(new AllReduce(data, data, ReduceOp.MAX)));
        assertNotSame(plain, planner.prepare(new AllGather(half, data, null)));
        Prepared counted = planner.prepare(new AllGather(half, data, new long[] {4, 4}));
        assertNotSame(planner.prepare(new AllGather(half, data, null)), counted);
        assertSame(counted, planner.prepare(new AllGather(half, data, new long[] {4, 4})));
        assertTrue(counted.text().contains("in parts of [4,4]"), counted.text());
    }
}
