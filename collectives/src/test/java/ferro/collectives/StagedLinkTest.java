package ferro.collectives;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.WireHeader;
import ferro.spi.CallHeader;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two ends of a link over queues of bytes that take only a few at once. */
class StagedLinkTest {
    private static final CallHeader FIRST = CallHeader.of(7, 1, 0x55, "first");
    private static final CallHeader SECOND = CallHeader.of(7, 2, 0x66, "second");

    private final List<String> heard = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 48, 5000})
    void elementsArriveInPiecesOfAnySize(int besideAHeader) {
        StagedLink[] ends = ends(WireHeader.BYTES + besideAHeader);
        byte[] few = {3, 1, 4};
        long[] many = new long[90];
        long[] sums = new long[90];
        for (int i = 0; i < many.length; i++) {
            many[i] = 1L << i % 60;
            sums[i] = i;
        }
        ends[0].send(FIRST, HostTensor.of(few), 1, 2);
        ends[0].send(SECOND, HostTensor.of(many), 0, 30);
        ends[0].send(SECOND, HostTensor.of(many), 30, 60);
        byte[] fewCame = new byte[3];
        ends[1].receive(FIRST, HostTensor.of(fewCame), 0, 2);
        ends[1].receiveCombine(SECOND, HostTensor.of(sums), 0, 90, ReduceOp.SUM);

        move(ends);

        assertArrayEquals(new byte[] {1, 4, 0}, fewCame);
        for (int i = 0; i < many.length; i++) {
            assertEquals(many[i] + i, sums[i], "sum " + i);
        }
        assertEquals(List.of(3L, 2L), List.of(ends[0].sent(), ends[1].received()), "finished posts");
        assertEquals(2 * WireHeader.BYTES + 2 + 90 * Long.BYTES, ends[1].bytesMoved(), "bytes");
        assertFalse(ends[0].isBusy() || ends[1].isBusy(), "something is still posted");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 48, 5000})
    void aRecordSplitBetweenPiecesIsCombinedOnce(int besideAHeader) {
        int record = 60;
        StagedLink[] ends = ends(WireHeader.BYTES + besideAHeader);
        ReduceOp op = ReduceOp.ofBytes("positions", record, (into, received) -> {
            for (int at = 0; at < into.limit(); at++) {
                into.put(at, (byte) (into.get(at) + received.get(at) * (1 + at % record)));
            }
        });
        byte[] sent = new byte[40 * record];
        byte[] sums = new byte[sent.length];
        for (int at = 0; at < sent.length; at++) {
            sent[at] = (byte) (at / record + 1);
            sums[at] = (byte) at;
        }
        ends[0].send(FIRST, HostTensor.of(sent), 0, 7 * record);
        ends[0].send(FIRST, HostTensor.of(sent), 7 * record, 33 * record);
        ends[1].receiveCombine(FIRST, HostTensor.of(sums), 0, 15 * record, op);
        ends[1].receiveCombine(FIRST, HostTensor.of(sums), 15 * record, 25 * record, op);

        move(ends);

        for (int at = 0; at < sent.length; at++) {
            assertEquals((byte) (at + (at / record + 1) * (1 + at % record)), sums[at], "byte " + at);
        }
        assertEquals(2, ends[1].received(), "finished posts");
    }

    @Test
    void dataBehindAnUnexpectedHeaderIsNotTaken() {
        StagedLink[] ends = ends(100);
        ends[0].send(SECOND, HostTensor.of(new int[] {8, 9}), 0, 2);
        int[] into = new int[2];
        ends[1].receive(FIRST, HostTensor.of(into), 0, 2);

        move(ends);

        assertEquals(List.of("rank 0: expected 1, found 2"), heard);
        assertArrayEquals(new int[2], into);
        assertEquals(0, ends[1].received());
    }

    @Test
    void droppedReceivesNeverEndAndWriteNoMemory() {
        StagedLink[] ends = ends(100);
        int[] into = new int[1];
        ends[1].receive(FIRST, HostTensor.of(into), 0, 1);
        ends[1].drop();
        ends[1].receive(FIRST, HostTensor.of(into), 0, 1);
        ends[0].send(FIRST, HostTensor.of(new int[] {8}), 0, 1);

        move(ends);

        assertEquals(List.of(1L, 0L), List.of(ends[0].sent(), ends[1].received()), "finished posts");
        assertEquals(0, into[0]);
    }

    @Test
    void stagingWithoutRoomForAHeaderIsRefused() {
        String message = assertThrows(IllegalArgumentException.class, () -> new StagedLink.Staging(15, 2))
                .getMessage();

        assertTrue(message.contains("15 bytes"), message);
    }

    private StagedLink[] ends(int window) {
        Pipe there = new Pipe(window);
        Pipe back = new Pipe(window);
        return new StagedLink[] {
            new StagedLink(1, there, back, new StagedLink.Staging(48, 2), new Heard()),
            new StagedLink(0, back, there, new StagedLink.Staging(48, 2), new Heard())
        };
    }

    private static void move(StagedLink... ends) {
        while (ends[0].move() | ends[1].move()) {
            // until neither end has more to do
        }
    }

    /** Notes what a link tells. */
    private final class Heard implements Transport.Events {
        @Override
        public void mismatched(int peer, CallHeader expected, CallHeader found) {
            heard.add("rank " + peer + ": expected " + expected.sequence() + ", found " + found.sequence());
        }

        @Override
        public void lost(int peer, FerroException cause) {
            throw new AssertionError("a link knows nothing of losses", cause);
        }

        @Override
        public void broken(int peer, FerroException cause) {
            throw new AssertionError("a link knows nothing of ends", cause);
        }

        @Override
        public void control(int peer, ByteBuffer message) {
            throw new AssertionError("a link has no control messages");
        }
    }
}
