package ferro.backend.tcp.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.tcp.net.Memory;
import ferro.collectives.link.WireHeader;
import ferro.spi.CallHeader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Elements over one connection. */
class TcpLinkTest {
    private static final CallHeader CALL = CallHeader.of(7, 17, 0x1234_5678_9abc_def0L, "all-reduce");
    private static final CallHeader NEXT_CALL = CallHeader.of(7, 18, 0x0fed_cba9_8765_4321L, "broadcast");

    static List<Arguments> ioAndMemories() {
        List<Arguments> all = new ArrayList<>();
        for (String io : List.of("epoll", "nio")) {
            for (Memory from : Memory.values()) {
                for (Memory into : Memory.values()) {
                    all.add(Arguments.of(io, from, into));
                }
            }
        }
        return all;
    }

    @ParameterizedTest
    @MethodSource("ioAndMemories")
    void elementsOfEveryLengthArriveUnchanged(String io, Memory from, Memory into) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            long posts = 0;
            for (int count : new int[] {0, 1, 3, 4095, 4096, 4097, 65_536, 131_075, 300_001}) {
                HostTensor data = from.filled(count, count);
                HostTensor copy = into.floats(count);
                pair.first().link.send(CALL, data, 0, count);
                pair.second().link.receive(CALL, copy, 0, count);
                long wanted = ++posts;
                pair.driveUntil(() ->
                        pair.first().link.sent() == wanted && pair.second().link.received() == wanted);
                assertSame(data, copy);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("ioAndMemories")
    void receivedElementsAreCombinedWithThoseInTheTensor(String io, Memory from, Memory into) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            int count = 300_001;
            HostTensor sum = into.filled(count, 5);
            HostTensor sent = from.filled(count, 11);
            pair.first().link.send(CALL, sent, 0, count);
            pair.second().link.receiveCombine(CALL, sum, 0, count, ReduceOp.SUM);
            pair.driveUntil(() -> pair.second().link.received() == 1);
            for (int i = 0; i < count; i++) {
                if (Memory.at(sum, i) != Memory.value(i, 5) + Memory.value(i, 11)) {
                    assertEquals(Memory.value(i, 5) + Memory.value(i, 11), Memory.at(sum, i), "element " + i);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("ioAndMemories")
    void sendsAndReceivesMayDivideTheSameElementsDifferently(String io, Memory from, Memory into) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            int count = 200_000;
            HostTensor data = from.filled(count, 3);
            HostTensor copy = into.floats(count);
            for (int at = 0; at < count; at += 10_000) {
                pair.first().link.send(CALL, data, at, 10_000);
            }
            for (int at = 0; at < count; at += 16_000) {
                pair.second().link.receive(CALL, copy, at, Math.min(16_000, count - at));
            }
            pair.driveUntil(
                    () -> pair.first().link.sent() == 20 && pair.second().link.received() == 13);
            assertSame(data, copy);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void arraysOfEveryTypeArriveAtAnyAlignment(String io) throws Exception {
        List<HostTensor> sent = List.of(
                HostTensor.of(new short[] {-3, 5, 7}),
                HostTensor.of(new int[] {-3, 5, Integer.MAX_VALUE}),
                HostTensor.of(new double[] {-3.5, 5.25, 7}),
                HostTensor.of(new float[] {-3.5f, 5.25f, 7}),
                HostTensor.of(new long[] {-3, 5, Long.MIN_VALUE}));
        List<HostTensor> copies = List.of(
                HostTensor.of(new short[3]),
                HostTensor.of(new int[3]),
                HostTensor.of(new double[3]),
                HostTensor.of(new float[3]),
                HostTensor.of(new long[3]));
        HostTensor odd = HostTensor.of(new byte[] {9});
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            for (int i = 0; i < sent.size(); i++) {
                CallHeader call = i < 2 ? CALL : NEXT_CALL;
                pair.first().link.send(call, sent.get(i), 0, 3);
                pair.first().link.send(call, odd, 0, 1);
                pair.second().link.receive(call, copies.get(i), 0, 3);
                pair.second().link.receive(call, odd, 0, 1);
            }
            pair.driveUntil(() -> pair.second().link.received() == 2L * sent.size());
            for (int i = 0; i < sent.size(); i++) {
                assertArrayEquals(
                        new Object[] {sent.get(i).memory()},
                        new Object[] {copies.get(i).memory()});
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void anElementThatArrivesInPartsIsCombinedOnce(String io) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            double[] sum = {10, 20};
            pair.second().link.receiveCombine(CALL, HostTensor.of(sum), 0, 2, ReduceOp.SUM);
            byte[] parts = new byte[2 * Double.BYTES];
            java.nio.ByteBuffer.wrap(parts)
                    .order(java.nio.ByteOrder.nativeOrder())
                    .putDouble(2.5)
                    .putDouble(4.5);
            for (int i = 0; i < parts.length; i++) {
                pair.first().link.send(CALL, HostTensor.of(parts), i, 1);
                pair.driveUntilStill();
            }
            assertEquals(1, pair.second().link.received());
            assertArrayEquals(new double[] {12.5, 24.5}, sum);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void aThousandPostsAreProcessedInOrder(String io) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            HostTensor data = Memory.ARRAY.filled(1000, 3);
            HostTensor copy = Memory.ARRAY.floats(1000);
            for (int i = 0; i < 1000; i++) {
                pair.second().link.receive(CALL, copy, i, 1);
                pair.first().link.send(CALL, data, i, 1);
            }
            assertEquals(0, pair.first().link.sent());
            pair.driveUntil(
                    () -> pair.first().link.sent() == 1000 && pair.second().link.received() == 1000);
            assertSame(data, copy);
            assertEquals(WireHeader.BYTES + 4000, pair.first().link.bytesMoved());
            assertEquals(WireHeader.BYTES + 4000, pair.second().link.bytesMoved());
        }
    }

    @ParameterizedTest
    @CsvSource({"epoll, 0", "epoll, 2", "nio, 0", "nio, 2"})
    void aReceiveWithoutElementsEndsWithTheHeaderOfItsCall(String io, int first) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            HostTensor data = Memory.ARRAY.floats(first);
            pair.second().link.receive(CALL, data, 0, first);
            pair.driveUntilStill();
            assertEquals(0, pair.second().link.received());
            pair.first().link.send(CALL, data, 0, first);
            pair.driveUntil(
                    () -> pair.first().link.sent() == 1 && pair.second().link.received() == 1);
            pair.first().link.send(CALL, data, 0, 0);
            pair.second().link.receive(CALL, data, 0, 0);
            assertEquals(2, pair.first().link.sent());
            assertEquals(2, pair.second().link.received());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void dataWithoutAReceiveStaysWithItsSender(String io) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            int count = 16 << 20;
            HostTensor data = Memory.ARRAY.filled(count, 3);
            pair.first().link.send(CALL, data, 0, count);
            pair.driveUntilStill();
            assertEquals(0, pair.first().link.sent());
            assertEquals(0, pair.second().link.bytesMoved());
            assertTrue(pair.first().link.bytesMoved() < 4L * count, pair.first().toString());
            HostTensor copy = Memory.DIRECT.floats(count);
            pair.second().link.receive(CALL, copy, 0, count);
            pair.driveUntil(
                    () -> pair.first().link.sent() == 1 && pair.second().link.received() == 1);
            assertSame(data, copy);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void linksWithAFullSocketBufferShareTheStagingMemory(String io) throws Exception {
        try (TcpPair.Side hub = new TcpPair.Side(TcpPair.io(io));
                TcpPair.Side one = new TcpPair.Side(TcpPair.io(io));
                TcpPair.Side other = new TcpPair.Side(TcpPair.io(io))) {
            TcpLink toOther = new TcpLink(hub.links, hub);
            TcpPair.join(TcpPair.io(io), hub.links, hub.link, one);
            TcpPair.join(TcpPair.io(io), hub.links, toOther, other);
            int count = 8 << 20;
            HostTensor data = Memory.ARRAY.filled(count, 3);
            HostTensor odd = HostTensor.of(new byte[] {3, 5, 7});
            HostTensor oneCopy = Memory.ARRAY.floats(count);
            HostTensor otherCopy = Memory.ARRAY.floats(count);
            for (TcpLink link : List.of(hub.link, toOther)) {
                link.send(CALL, odd, 0, 3);
                link.send(CALL, data, 0, count);
            }
            one.link.receive(CALL, odd, 0, 3);
            one.link.receive(CALL, oneCopy, 0, count);
            other.link.receive(CALL, odd, 0, 3);
            other.link.receive(CALL, otherCopy, 0, count);
            while (hub.links.poll()) {
                Thread.onSpinWait();
            }
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (one.link.received() < 2 || other.link.received() < 2) {
                assertTrue(System.nanoTime() - deadline < 0, one + ", " + other);
                hub.links.poll();
                one.links.poll();
                other.links.poll();
            }
            assertSame(data, oneCopy);
            assertSame(data, otherCopy);
            toOther.close();
        }
    }

    @Tag("large")
    @ParameterizedTest
    @MethodSource("ioAndMemories")
    @Tag("long")
    void bothDirectionsMoveSixtyFourMebibytesAtOnce(String io, Memory from, Memory into) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            int count = 16 << 20;
            HostTensor data = from.filled(count, 3);
            HostTensor one = into.floats(count);
            HostTensor other = into.floats(count);
            for (int at = 0; at < count; at += 1 << 17) {
                pair.first().link.send(CALL, data, at, 1 << 17);
                pair.second().link.send(CALL, data, at, 1 << 17);
                pair.first().link.receive(CALL, one, at, 1 << 17);
                pair.second().link.receive(CALL, other, at, 1 << 17);
            }
            pair.driveUntil(() ->
                    pair.first().link.received() == 128 && pair.second().link.received() == 128);
            assertSame(data, one);
            assertSame(data, other);
        }
    }

    private static void assertSame(HostTensor expected, HostTensor found) {
        for (int i = 0; i < expected.elementCount(); i++) {
            if (Memory.at(expected, i) != Memory.at(found, i)) {
                assertEquals(Memory.at(expected, i), Memory.at(found, i), "element " + i);
            }
        }
    }
}
