package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.WireHeader;
import ferro.collectives.shared.IntraNodeLinks.IntraNodeLink;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Elements over rings. */
@Timeout(60)
class IntraNodeLinkTest {
    private static final CallHeader CALL = CallHeader.of(7, 17, 0x1234_5678_9abc_def0L, "all-reduce");
    private static final CallHeader NEXT_CALL = CallHeader.of(7, 18, 0x0fed_cba9_8765_4321L, "broadcast");
    private static final String MEMORIES = """
            array, array
            array, direct
            direct, array
            direct, direct
            """;

    private final RingPair pair = new RingPair();
    private final IntraNodeLink from = pair.first.link;
    private final IntraNodeLink to = pair.second.link;

    @ParameterizedTest
    @CsvSource(textBlock = MEMORIES)
    void elementsOfEveryLengthArriveUnchanged(String source, String target) {
        long posts = 0;
        for (int count : new int[] {0, 1, 3, 4095, 4096, 4097, 65_536, 131_075, 300_001}) {
            HostTensor data = filled(source, count, count);
            HostTensor copy = floats(target, count);
            from.send(CALL, data, 0, count);
            to.receive(CALL, copy, 0, count);
            long wanted = ++posts;
            pair.driveUntil(() -> from.sent() == wanted && to.received() == wanted);
            assertSameElements(data, copy);
        }
    }

    @ParameterizedTest
    @CsvSource(textBlock = MEMORIES)
    void receivedElementsAreCombinedAtAnyAlignment(String source, String target) {
        int count = 300_001;
        HostTensor odd = HostTensor.of(new byte[] {3, 5, 7});
        HostTensor sum = filled(target, count, 5);
        HostTensor sent = filled(source, count, 11);
        from.send(CALL, odd, 0, 3);
        from.send(CALL, sent, 0, count);
        to.receive(CALL, odd, 0, 3);
        to.receiveCombine(CALL, sum, 0, count, ReduceOp.SUM);
        pair.driveUntil(() -> to.received() == 2);
        for (int i = 0; i < count; i++) {
            if (at(sum, i) != value(i, 5) + value(i, 11)) {
                assertEquals(value(i, 5) + value(i, 11), at(sum, i), "element " + i);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(textBlock = MEMORIES)
    void sendsAndReceivesMayDivideTheSameElementsDifferently(String source, String target) {
        int count = 200_000;
        HostTensor data = filled(source, count, 3);
        HostTensor copy = floats(target, count);
        for (int at = 0; at < count; at += 10_000) {
            from.send(CALL, data, at, 10_000);
        }
        for (int at = 0; at < count; at += 16_000) {
            to.receive(CALL, copy, at, Math.min(16_000, count - at));
        }
        pair.driveUntil(() -> from.sent() == 20 && to.received() == 13);
        assertSameElements(data, copy);
    }

    @Test
    void arraysOfEveryTypeArriveAtEveryOffsetOfTheRing() {
        List<HostTensor> sent = List.of(
                HostTensor.of(new short[] {-3, 5, 7}),
                HostTensor.of(new int[] {-3, 5, Integer.MAX_VALUE}),
                HostTensor.of(new double[] {-3.5, 5.25, 7}),
                HostTensor.of(new float[] {-3.5f, 5.25f, 7}),
                HostTensor.of(new long[] {-3, 5, Long.MIN_VALUE}),
                HostTensor.of(new byte[] {-3, 5, 7}));
        List<HostTensor> copies = List.of(
                HostTensor.of(new short[3]),
                HostTensor.of(new int[3]),
                HostTensor.of(new double[3]),
                HostTensor.of(new float[3]),
                HostTensor.of(new long[3]),
                HostTensor.of(new byte[3]));
        // the header and 81 bytes a round: in a few laps every type and a header lie across the end in every way
        for (long round = 1; round < 40_000; round++) {
            CallHeader call = CallHeader.of(7, round, 5 * round, "round");
            for (int i = 0; i < sent.size(); i++) {
                from.send(call, sent.get(i), 0, 3);
                to.receive(call, copies.get(i), 0, 3);
            }
            long wanted = round * sent.size();
            pair.driveUntil(() -> to.received() == wanted);
            for (int i = 0; i < sent.size(); i++) {
                assertArrayEquals(
                        new Object[] {sent.get(i).memory()},
                        new Object[] {copies.get(i).memory()});
                clear(copies.get(i));
            }
        }
    }

    @Test
    void elementsSplitIntoBytesArriveAtEveryOffsetOfTheRing() {
        ByteBuffer bytes = ByteBuffer.allocateDirect(27).order(ByteOrder.nativeOrder());
        HostTensor cut = HostTensor.of(DataType.INT8, bytes);
        HostTensor odd = HostTensor.of(new byte[] {3, 5, 7});
        for (long round = 1; round < 40_000; round++) {
            double[] sent = {round + 0.5, -round, 7};
            double[] came = new double[3];
            CallHeader call = CallHeader.of(7, round, 5 * round, "round");
            from.send(call, HostTensor.of(sent), 0, 3);
            from.send(call, odd, 0, 3);
            to.receive(call, cut, 0, 27);
            long wanted = 2 * round;
            pair.driveUntil(() -> to.received() == wanted - 1);
            assertEquals(round + 0.5, bytes.getDouble(0));
            from.send(call, cut, 0, 24);
            to.receive(call, HostTensor.of(came), 0, 3);
            pair.driveUntil(() -> to.received() == wanted);
            assertArrayEquals(sent, came);
        }
    }

    @Test
    void anElementThatArrivesInPartsIsCombinedOnce() {
        double[] sum = {10, 20};
        to.receiveCombine(CALL, HostTensor.of(sum), 0, 2, ReduceOp.SUM);
        byte[] parts = new byte[2 * Double.BYTES];
        ByteBuffer.wrap(parts).order(ByteOrder.nativeOrder()).putDouble(2.5).putDouble(4.5);
        for (int i = 0; i < parts.length; i++) {
            from.send(CALL, HostTensor.of(parts), i, 1);
            pair.driveUntilStill();
        }
        assertEquals(1, to.received());
        assertArrayEquals(new double[] {12.5, 24.5}, sum);
    }

    @Test
    void aThousandPostsAreProcessedInOrder() {
        HostTensor data = filled("array", 1000, 3);
        HostTensor copy = floats("array", 1000);
        for (int i = 0; i < 1000; i++) {
            to.receive(CALL, copy, i, 1);
            from.send(CALL, data, i, 1);
        }
        assertEquals(0, from.sent());
        pair.driveUntil(() -> from.sent() == 1000 && to.received() == 1000);
        assertSameElements(data, copy);
        assertEquals(WireHeader.BYTES + 4000, from.bytesMoved());
        assertEquals(WireHeader.BYTES + 4000, to.bytesMoved());
    }

    @Test
    void aReceiveWithoutElementsEndsWithTheHeaderOfItsCall() {
        HostTensor nothing = floats("array", 0);
        to.receive(CALL, nothing, 0, 0);
        pair.driveUntilStill();
        assertEquals(0, to.received());
        from.send(CALL, nothing, 0, 0);
        pair.driveUntil(() -> to.received() == 1);
        from.send(CALL, nothing, 0, 0);
        to.receive(CALL, nothing, 0, 0);
        assertEquals(2, from.sent());
        assertEquals(2, to.received());
    }

    @Test
    void dataWithoutAReceiveStaysWithItsSender() {
        int count = 1 << 20;
        HostTensor data = filled("array", count, 3);
        from.send(CALL, data, 0, count);
        pair.driveUntilStill();
        assertEquals(0, from.sent());
        assertEquals(0, to.bytesMoved());
        assertTrue(from.bytesMoved() <= OneJvm.layout(2, 0).ringBytes(), pair.first.toString());
        HostTensor copy = floats("direct", count);
        to.receive(CALL, copy, 0, count);
        pair.driveUntil(() -> from.sent() == 1 && to.received() == 1);
        assertSameElements(data, copy);
    }

    @Test
    void aDifferentHeaderIsReportedAndItsDataIsDropped() {
        HostTensor copy = filled("array", 2, 3);
        from.send(NEXT_CALL, filled("array", 2, 70), 0, 2);
        to.receive(CALL, copy, 0, 2);
        pair.driveUntilStill();
        assertEquals(List.of(CALL), pair.second.expected);
        assertEquals(NEXT_CALL.sequence(), pair.second.found.get(0).sequence());
        assertEquals(NEXT_CALL.fingerprint(), pair.second.found.get(0).fingerprint());
        assertSameElements(filled("array", 2, 3), copy);
        assertEquals(0, to.received());
    }

    @Test
    void dataThatAPeerSentBeforeItLeftIsReceivedBeforeTheFailure() {
        HostTensor data = filled("array", 3, 5);
        HostTensor copy = floats("array", 3);
        from.send(CALL, data, 0, 3);
        pair.first.links.poll();
        pair.first.links.drop();
        to.receive(CALL, copy, 0, 2);
        to.receive(CALL, copy, 2, 1);
        to.receive(CALL, copy, 0, 3);
        pair.driveUntilStill();
        assertEquals(2, to.received());
        assertSameElements(data, copy);
        assertEquals(
                List.of("rank 1 of \"pair\" lost rank 0, which has left their shared memory, 0 of 12 bytes received,"
                        + " 1 receives and 0 sends unfinished; the output of rank 0 says why"),
                pair.second.broken);
    }

    @Test
    void droppedPostsTouchNoMemoryAndLaterOnesAreIgnored() {
        HostTensor copy = filled("array", 2, 3);
        to.receive(CALL, copy, 0, 2);
        pair.second.links.drop();
        to.receive(CALL, copy, 0, 2);
        from.send(CALL, filled("array", 2, 70), 0, 2);
        pair.driveUntilStill();
        assertSameElements(filled("array", 2, 3), copy);
        assertSame(to, pair.second.links.link(0, ferro.spi.Transport.Lane.COLLECTIVE));
    }

    @Test
    void twoThreadsMoveBothDirectionsAtOnce() throws InterruptedException {
        int count = 3 << 20;
        HostTensor data = filled("array", count, 3);
        HostTensor one = floats("array", count);
        HostTensor other = floats("direct", count);
        Thread second = new Thread(() -> exchange(pair.second, data, other));
        second.start();
        exchange(pair.first, data, one);
        second.join();
        assertSameElements(data, one);
        assertSameElements(data, other);
    }

    private static void exchange(RingPair.Side side, HostTensor data, HostTensor copy) {
        long count = data.elementCount();
        side.link.send(CALL, data, 0, count);
        side.link.receive(CALL, copy, 0, count);
        while (side.link.sent() + side.link.received() < 2) {
            if (!side.links.poll()) {
                Thread.yield();
            }
        }
    }

    private static HostTensor floats(String memory, int count) {
        if (memory.equals("array")) {
            return HostTensor.of(DataType.FLOAT32, new float[count + 3], 3, count);
        }
        ByteBuffer bytes = ByteBuffer.allocateDirect(count * 4 + 12).order(ByteOrder.nativeOrder());
        return HostTensor.of(DataType.FLOAT32, bytes.position(12));
    }

    private static HostTensor filled(String memory, int count, int start) {
        HostTensor made = floats(memory, count);
        for (int i = 0; i < count; i++) {
            if (made.memory() instanceof float[] array) {
                array[3 + i] = value(i, start);
            } else {
                ((ByteBuffer) made.memory()).putFloat(12 + 4 * i, value(i, start));
            }
        }
        return made;
    }

    private static float value(int i, int start) {
        return (start + i) % 65_521 + 2;
    }

    private static float at(HostTensor tensor, int i) {
        return tensor.memory() instanceof float[] array
                ? array[3 + i]
                : ((ByteBuffer) tensor.memory()).getFloat(12 + 4 * i);
    }

    private static void clear(HostTensor tensor) {
        Object memory = tensor.memory();
        Object empty = java.lang.reflect.Array.newInstance(memory.getClass().getComponentType(), 3);
        System.arraycopy(empty, 0, memory, 0, 3);
    }

    private static void assertSameElements(HostTensor expected, HostTensor found) {
        for (int i = 0; i < expected.elementCount(); i++) {
            if (at(expected, i) != at(found, i)) {
                assertEquals(at(expected, i), at(found, i), "element " + i);
            }
        }
    }
}
