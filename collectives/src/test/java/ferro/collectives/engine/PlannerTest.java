package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.plan.AlgorithmChooser;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Plans are made once. */
class PlannerTest {
    private static final GroupSpec PAIR = GroupSpec.of("world", 0, 2, Duration.ofSeconds(1));

    private final Planner planner = new Planner(PAIR, SystemContext.of(Map.of()), 7, AlgorithmChooser.of(""));

    private PreparedCall prepare(Collective call) {
        return planner.prepare(call, "");
    }

    private static Collective allReduce(int length) {
        return Collective.allReduce(HostTensor.of(new float[length]), ReduceOp.SUM);
    }

    @Test
    void plansOfTwentyPowersOfTwoStayInTheCache() {
        List<PreparedCall> made = new ArrayList<>();
        for (int bit = 0; bit < 20; bit++) {
            made.add(prepare(allReduce(1 << bit)));
        }

        for (int bit = 0; bit < 20; bit++) {
            assertSame(made.get(bit), prepare(allReduce(1 << bit)), "2^" + bit + " elements");
        }
    }

    @Test
    void aCallWithEqualCountsSharesThePlanWithoutCounts() {
        HostTensor part = HostTensor.of(new float[8]);
        HostTensor all = HostTensor.of(new float[16]);
        long[] equal = {8, 8};
        ReduceOp sum = ReduceOp.SUM;

        assertSame(prepare(Collective.allGather(part, all)), prepare(Collective.allGather(part, all, equal)));
        assertSame(
                prepare(Collective.reduceScatter(all, part, sum)),
                prepare(Collective.reduceScatter(all, part, sum, equal)));
        assertSame(prepare(Collective.gather(part, all, 0)), prepare(Collective.gather(part, all, 0, equal)));
        assertSame(prepare(Collective.scatter(all, part, 0)), prepare(Collective.scatter(all, part, 0, equal)));
    }

    @Test
    void anAllToAllWithEqualCountsHasItsOwnPlan() {
        HostTensor in = HostTensor.of(new float[16]);
        HostTensor out = HostTensor.of(new float[16]);
        long[] equal = {8, 8};
        PreparedCall counted = prepare(Collective.allToAll(in, out, equal, equal));

        assertNotSame(prepare(Collective.allToAll(in, out)), counted);
        assertSame(counted, prepare(Collective.allToAll(in, out, equal, new long[0])));
        assertSame(counted, prepare(Collective.allToAll(in, out, new long[0], equal)));
    }

    @Test
    void allToAllsThatDifferOnOneSideHaveDifferentPlans() {
        HostTensor in = HostTensor.of(new float[16]);
        HostTensor out = HostTensor.of(new float[16]);
        HostTensor shorter = HostTensor.of(new float[12]);
        long[] equal = {8, 8};
        PreparedCall first = prepare(Collective.allToAll(in, out, equal, equal));

        assertNotSame(first, prepare(Collective.allToAll(in, shorter, equal, new long[] {8, 4})));
        assertNotSame(first, prepare(Collective.allToAll(shorter, out, new long[] {8, 4}, equal)));
        assertSame(first, prepare(Collective.allToAll(in, out, equal, equal)));
    }

    @Test
    void unequalCountsArePlannedOnce() {
        HostTensor part = HostTensor.of(new float[5]);
        HostTensor all = HostTensor.of(new float[16]);
        PreparedCall first = prepare(Collective.allGather(part, all, new long[] {5, 11}));

        assertSame(first, prepare(Collective.allGather(part, all, new long[] {5, 11})));
        assertNotSame(first, prepare(Collective.allGather(part, HostTensor.of(new float[12]), new long[] {5, 7})));
    }

    @Test
    void multipliedSumsOfOneFactorShareAPlanHoweverOftenTheOpIsMade() {
        HostTensor data = HostTensor.of(new float[8]);

        PreparedCall half = prepare(Collective.allReduce(data, ReduceOp.preMultipliedSum(0.5)));

        assertSame(half, prepare(Collective.allReduce(data, ReduceOp.preMultipliedSum(0.5))));
        assertNotSame(half, prepare(Collective.allReduce(data, ReduceOp.preMultipliedSum(0.25))));
    }

    @Test
    void integerAveragesKeepTheirNameAndAreSentAs64BitSums() {
        HostTensor bytes = HostTensor.of(new byte[8]);
        HostTensor longs = HostTensor.of(new long[8]);

        PreparedCall ofBytes = prepare(Collective.allReduce(bytes, ReduceOp.AVG));
        PreparedCall ofLongs = prepare(Collective.allReduce(longs, ReduceOp.AVG));
        PreparedCall sum = prepare(Collective.allReduce(longs, ReduceOp.SUM));

        assertTrue(ofBytes.text().startsWith("allReduce i8[8] avg by "), ofBytes.text());
        assertEquals(8, ofBytes.bytes);
        assertEquals(sum.bytesMoved, ofBytes.bytesMoved, "a number for each element");
        assertEquals(64, ofLongs.bytes);
        assertEquals(2 * sum.bytesMoved, ofLongs.bytesMoved, "two numbers for each element");
        assertNotEquals(sum.call.fingerprint(), ofLongs.call.fingerprint());
        assertSame(ofLongs, prepare(Collective.allReduce(longs, ReduceOp.AVG)));
    }

    @Test
    void usersOpsShareAPlanWhereNameAndCodeAreTheSame() {
        HostTensor data = HostTensor.of(new float[8]);
        ReduceOp.Combiner first = (into, received) -> {};
        ReduceOp.Combiner second = (into, received) -> {};

        PreparedCall kept = prepare(Collective.allReduce(data, ReduceOp.of("first", first)));

        assertSame(kept, prepare(Collective.allReduce(data, ReduceOp.of("first", first))));
        assertNotSame(kept, prepare(Collective.allReduce(data, ReduceOp.of("first", second))));
        assertNotSame(kept, prepare(Collective.allReduce(data, ReduceOp.of("other", first))));
    }

    @Test
    void callsThatDifferInOnePropertyHaveDifferentPlans() {
        PreparedCall plain = prepare(allReduce(8));
        HostTensor data = HostTensor.of(new float[8]);
        HostTensor half = HostTensor.of(new float[4]);

        assertNotSame(plain, prepare(Collective.allReduce(data, ReduceOp.MAX)));
        assertNotSame(plain, prepare(Collective.allGather(half, data)));
        HostTensor three = HostTensor.of(new float[3]);
        PreparedCall counted = prepare(Collective.allGather(three, data, new long[] {3, 5}));
        assertNotSame(prepare(Collective.allGather(half, data)), counted);
        assertSame(counted, prepare(Collective.allGather(three, data, new long[] {3, 5})));
        assertTrue(counted.text().contains("in parts of [3,5]"), counted.text());
    }

    @Test
    void aLabelChangesFingerprintAndTextButNotThePlan() {
        PreparedCall plain = prepare(allReduce(8));
        PreparedCall labelled = planner.prepare(allReduce(8), "dense2.weight");

        assertSame(plain.schedule, labelled.schedule);
        assertNotEquals(plain.call.fingerprint(), labelled.call.fingerprint());
        assertEquals(plain.text().replace("allReduce f32", "allReduce \"dense2.weight\" f32"), labelled.text());
        assertSame(plain, prepare(allReduce(8)));
        assertSame(labelled, planner.prepare(allReduce(8), "dense2.weight"));
        assertNotSame(labelled, planner.prepare(allReduce(8), "dense2.bias"));
    }

    @Test
    void plansOf500LabelsStayInTheCache() {
        List<PreparedCall> made = new ArrayList<>();
        for (int layer = 0; layer < 500; layer++) {
            made.add(planner.prepare(allReduce(8 + layer % 5), "layers." + layer + ".weight"));
        }

        int again = 0;
        for (int layer = 0; layer < 500; layer++) {
            again +=
                    made.get(layer) == planner.prepare(allReduce(8 + layer % 5), "layers." + layer + ".weight") ? 1 : 0;
        }
        assertTrue(again > 480, again + " of 500 are still there");
    }

    @Test
    void joinedCallsListTheirLabelsInOrderAndACommonLabelOnce() {
        long[] lengths = {4, 5};

        PreparedCall two = planner.prepareJoined(DataType.FLOAT32, ReduceOp.SUM, lengths, "a", "b");
        PreparedCall swapped = planner.prepareJoined(DataType.FLOAT32, ReduceOp.SUM, lengths, "b", "a");
        PreparedCall one = planner.prepareJoined(DataType.FLOAT32, ReduceOp.SUM, lengths, "a", "a");
        PreparedCall none = planner.prepareJoined(DataType.FLOAT32, ReduceOp.SUM, lengths, "", "");

        assertTrue(two.text().startsWith("allReduce [\"a\", \"b\"] f32[9] coalesced of [4,5]"), two.text());
        assertTrue(swapped.text().startsWith("allReduce [\"b\", \"a\"] "), swapped.text());
        assertTrue(one.text().startsWith("allReduce \"a\" f32[9] coalesced of [4,5]"), one.text());
        assertTrue(none.text().startsWith("allReduce f32[9] coalesced of [4,5]"), none.text());
        assertSame(none, planner.prepareJoined(DataType.FLOAT32, ReduceOp.SUM, lengths, "", ""));
    }

    @Test
    void manyLabelsOfJoinedCallsAreCutInTheTextButAllHashed() {
        long[] lengths = new long[60];
        Arrays.fill(lengths, 2);
        String[] labels = new String[60];
        Arrays.setAll(labels, index -> "layers." + index + ".weight");

        PreparedCall first = planner.prepareJoined(DataType.FLOAT32, ReduceOp.SUM, lengths, labels);
        labels[59] = "layers.59.bias";
        PreparedCall other = planner.prepareJoined(DataType.FLOAT32, ReduceOp.SUM, lengths, labels);

        assertTrue(first.text().contains("\"layers.0.weight\", \"layers.1.weight\""), first.text());
        assertTrue(first.text().contains(" more, hash "), first.text());
        assertTrue(first.text().length() < 512, first.text());
        assertNotEquals(first.call.fingerprint(), other.call.fingerprint());
    }
}
