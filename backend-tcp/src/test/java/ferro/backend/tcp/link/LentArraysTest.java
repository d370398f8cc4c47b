package ferro.backend.tcp.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.Carrier;
import ferro.DataType;
import ferro.FerroException;
import ferro.ForeignMemory;
import ferro.HostTensor;
import ferro.backend.tcp.net.Memory;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Arrays that are lent to system calls, and the same posts through the staging memory. */
class LentArraysTest {
    private static final int TENSORS = 60;
    private static final int LARGE_BYTES = 700_000;
    private static final int SMALL_BYTES = 5_000;
    private static final int COUNT = 4 << 20;

    private final Random random = new Random(11);
    private final List<CuttingSocket> sockets = new ArrayList<>();

    @Test
    void arraysAreLentOnANewJvmAndAnOldJvmGivesTheReason() throws Exception {
        String absent = ArraySocketCalls.absentBecause();
        if (Runtime.version().feature() >= 22) {
            assertEquals(null, absent);
        } else {
            assertTrue(absent.contains("JDK " + Runtime.version().feature()), absent);
        }
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io("epoll"), socket -> {
            assertEquals(absent == null, socket.takesLent());
            return socket;
        })) {
            assertEquals(0, pair.first().link.bytesMoved());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void arraysOfEveryTypeArriveUnchangedInAnyPieces(boolean lends) throws Exception {
        try (TcpPair pair = pair(lends, true)) {
            List<HostTensor> sent = new ArrayList<>();
            List<HostTensor> copies = new ArrayList<>();
            long[] posts = new long[2];
            for (int i = 0; i < TENSORS; i++) {
                Carrier carrier = Carrier.values()[i % Carrier.values().length];
                int bytes = random.nextBoolean() ? LARGE_BYTES : SMALL_BYTES;
                int count = 1 + random.nextInt(bytes) / carrier.byteSize();
                CallHeader call = CallHeader.of(7, i / 3, 0x1234, "broadcast");
                sent.add(filled(carrier, count));
                copies.add(filled(carrier, count));
                int firstCut = random.nextInt(count + 1);
                pair.first().link.send(call, sent.get(i), 0, firstCut);
                pair.first().link.send(call, sent.get(i), firstCut, count - firstCut);
                int otherCut = random.nextInt(4) == 0 ? random.nextInt(count + 1) : 0;
                pair.second().link.receive(call, copies.get(i), 0, otherCut);
                pair.second().link.receive(call, copies.get(i), otherCut, count - otherCut);
                posts[0] += 2;
                posts[1] += 2;
            }
            pair.driveUntil(() ->
                    pair.first().link.sent() == posts[0] && pair.second().link.received() == posts[1]);
            for (int i = 0; i < TENSORS; i++) {
                assertEquals(bits(sent.get(i)), bits(copies.get(i)), "tensor " + i);
            }
            CuttingSocket sender = sockets.get(0);
            assertEquals(lends, sender.lentBytes() > LARGE_BYTES);
            assertEquals(lends, sockets.get(1).lentBytes() > LARGE_BYTES);
            assertEquals(lends, sender.shortArrayWrites() > 0, "the kernel always had room");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void foreignMemoryIsLentInsteadOfStaged(boolean lends) throws Exception {
        try (TcpPair pair = pair(lends, true)) {
            long lent = 0;
            // in one buffer, and in two
            for (int count : new int[] {200_003, 3 * ForeignHalves.BUFFER_BYTES / 8 + 5}) {
                HostTensor data = HostTensor.of(DataType.FLOAT32, ForeignHalves.of(4 * count));
                HostTensor into = HostTensor.of(DataType.FLOAT32, ForeignHalves.of(4 * count));
                for (int i = 0; i < count; i++) {
                    data.setFloat(i, i + 2);
                }
                CallHeader call = CallHeader.of(7, count, 0x1234, "broadcast");
                long received = pair.second().link.received() + 1;
                pair.first().link.send(call, data, 0, count);
                pair.second().link.receive(call, into, 0, count);
                pair.driveUntil(() -> pair.second().link.received() == received);
                for (int i = 0; i < count; i++) {
                    assertEquals(i + 2, into.getFloat(i));
                }
                lent += lends ? 4L * count : 0;
                assertEquals(lent, sockets.get(0).lentBytes());
                assertEquals(lent, sockets.get(1).lentBytes());
            }
        }
    }

    /** Foreign memory, so small that a test can cross the ends of its buffers. */
    private record ForeignHalves(ByteBuffer bytes, long address, long byteCount, boolean isReadOnly, boolean isAlive)
            implements ForeignMemory {
        static final int BUFFER_BYTES = 4 << 20;

        static ForeignHalves of(int count) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(count);
            return new ForeignHalves(bytes, System.identityHashCode(bytes) * 0x8000_0000L, count, false, true);
        }

        @Override
        public int bufferBytes() {
            return BUFFER_BYTES;
        }

        @Override
        public ByteBuffer buffer(long from, int count) {
            return bytes.slice((int) from, count).order(ByteOrder.nativeOrder());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void elementsBesideAReceivedPartStayUnchanged(boolean lends) throws Exception {
        try (TcpPair pair = pair(lends, true)) {
            int count = 100_000;
            double[] whole = new double[count + 2];
            whole[0] = -3;
            whole[count + 1] = -5;
            double[] data = new double[count + 7];
            for (int i = 0; i < data.length; i++) {
                data[i] = i + 2;
            }
            CallHeader call = CallHeader.of(7, 17, 0x1234, "broadcast");
            pair.first().link.send(call, HostTensor.of(DataType.FLOAT64, data, 3, count + 4), 4, count);
            pair.second().link.receive(call, HostTensor.of(DataType.FLOAT64, whole, 1, count), 0, count);
            pair.driveUntil(() -> pair.second().link.received() == 1);
            assertEquals(
                    List.of(-3.0, 9.0, count + 8.0, -5.0), List.of(whole[0], whole[1], whole[count], whole[count + 1]));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aMessageThatEndsEarlyFailsWithTheNumberOfReceivedBytes(boolean lends) throws Exception {
        try (TcpPair pair = pair(lends, false)) {
            CallHeader call = CallHeader.of(7, 17, 0x1234, "broadcast");
            HostTensor into = Memory.ARRAY.floats(COUNT);
            pair.second().link.receive(call, into, 0, COUNT);
            pair.first().link.send(call, Memory.ARRAY.filled(100_001, 3), 0, 100_001);
            pair.driveUntil(() -> pair.first().link.sent() == 1);
            pair.first().link.close();
            pair.driveUntil(() -> !pair.second().broken.isEmpty());

            FerroException failure = pair.second().broken.get(0);
            assertEquals(FerroException.Code.PEER_LOST, failure.code());
            assertTrue(
                    failure.getMessage().contains("400004 of " + 4 * COUNT + " bytes received"), failure.getMessage());
            assertEquals(null, failure.getCause());
            assertEquals(Memory.value(100_000, 3), Memory.at(into, 100_000));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aWriteAfterAResetFailsAsNettysDoes(boolean lends) throws Exception {
        try (TcpPair pair = pair(lends, false)) {
            CallHeader call = CallHeader.of(7, 17, 0x1234, "broadcast");
            pair.first().link.send(call, Memory.ARRAY.filled(COUNT, 3), 0, COUNT);
            pair.driveUntilStill();
            pair.second().link.close();
            pair.driveUntil(() -> !pair.first().broken.isEmpty());

            assertEquals(
                    "write(..) failed with error(-104): Connection reset by peer",
                    pair.first().broken.get(0).getCause().getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aReadAfterAResetFailsAsNettysDoes(boolean lends) throws Exception {
        try (TcpPair pair = pair(lends, false)) {
            CallHeader call = CallHeader.of(7, 17, 0x1234, "broadcast");
            pair.second().link.send(call, Memory.ARRAY.filled(3, 5), 0, 3);
            pair.second().link.receive(call, Memory.ARRAY.floats(COUNT), 0, COUNT);
            pair.first().link.send(call, Memory.ARRAY.filled(100_001, 3), 0, 100_001);
            pair.driveUntil(() -> pair.first().link.sent() == 1);
            pair.driveUntilStill();
            // it has not read what came, so the kernel resets the connection
            pair.first().link.close();
            pair.driveUntil(() -> !pair.second().broken.isEmpty());

            FerroException failure = pair.second().broken.get(0);
            assertTrue(
                    failure.getMessage().contains("400004 of " + 4 * COUNT + " bytes received"), failure.getMessage());
            assertEquals(
                    "read(..) failed with error(-104): Connection reset by peer",
                    failure.getCause().getMessage());
        }
    }

    private TcpPair pair(boolean lends, boolean cuts) throws Exception {
        assumeTrue(!lends || ArraySocketCalls.absentBecause() == null, ArraySocketCalls::absentBecause);
        return TcpPair.onLoopback(TcpPair.io("epoll"), socket -> {
            sockets.add(new CuttingSocket(socket, lends, cuts ? random : null));
            return sockets.get(sockets.size() - 1);
        });
    }

    /** Makes elements of random bits that begin somewhere in their array. */
    private HostTensor filled(Carrier carrier, int count) {
        int offset = random.nextInt(6);
        Object array = carrier.newArray(offset + count + random.nextInt(3));
        byte[] bits = new byte[count * carrier.byteSize()];
        random.nextBytes(bits);
        carrier.read(direct(bits.length).put(0, bits), 0, array, offset, count);
        DataType type = Stream.of(DataType.values())
                .filter(one -> one.carrier() == carrier)
                .findFirst()
                .orElseThrow();
        return HostTensor.ofArray(type, array, offset, count);
    }

    private static ByteBuffer bits(HostTensor tensor) {
        int count = (int) tensor.elementCount();
        ByteBuffer bits = direct(count * tensor.dataType().byteSize());
        tensor.dataType().carrier().write(bits, 0, tensor.memory(), (int) tensor.offset(), count);
        return bits;
    }

    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }
}
