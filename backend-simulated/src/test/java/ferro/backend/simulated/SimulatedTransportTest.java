package ferro.backend.simulated;

import static ferro.backend.simulated.Ends.call;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class SimulatedTransportTest {
    private final Ends ends = new Ends(3);

    @Test
    void theFirstPostOfACallSendsTheHeaderWithoutElements() {
        HostTensor nothing = HostTensor.of(new float[0]);
        ends.link(1, 0).receive(call(4), nothing, 0, 0);
        ends.settle();
        assertEquals(0, ends.link(1, 0).received());
        ends.link(0, 1).send(call(4), nothing, 0, 0);
        assertEquals(1, ends.link(0, 1).sent());
        ends.settle();
        assertEquals(1, ends.link(1, 0).received());
    }

    @Test
    void aLaterPostWithoutElementsEndsAtOnce() {
        HostTensor data = HostTensor.of(new int[] {3});
        ends.link(0, 1).send(call(1), data, 0, 1);
        ends.link(1, 0).receive(call(1), HostTensor.of(new int[1]), 0, 1);
        ends.settle();
        ends.link(0, 1).send(call(1), data, 0, 0);
        ends.link(1, 0).receive(call(1), data, 0, 0);
        assertEquals(2, ends.link(0, 1).sent());
        assertEquals(2, ends.link(1, 0).received());
    }

    @Test
    void aCollectiveSendReadsTheSendersMemoryWhenItIsReceived() {
        int[] data = {3, 4};
        int[] sum = {10, 20};
        ends.link(0, 1).send(call(1), HostTensor.of(data), 0, 2);
        assertEquals(0, ends.link(0, 1).sent());
        data[0] = 5;
        ends.link(1, 0).receiveCombine(call(1), HostTensor.of(sum), 0, 2, ReduceOp.SUM);
        ends.settle();
        assertArrayEquals(new int[] {15, 24}, sum);
        assertEquals(1, ends.link(0, 1).sent());
    }

    @Test
    void aSmallMessageIsSentBeforeItIsReceived() {
        short[] data = {3, 4};
        ends.messages(0, 1).send(call(1), HostTensor.of(data), 0, 2);
        assertEquals(1, ends.messages(0, 1).sent());
        data[0] = 9;
        short[] got = new short[2];
        ends.messages(1, 0).receive(call(1), HostTensor.of(got), 0, 2);
        ends.settle();
        assertArrayEquals(new short[] {3, 4}, got);
    }

    @Test
    void theWindowOfMessagesIsBoundedAndReopens() {
        byte[] data = new byte[64 << 10];
        Link link = ends.messages(0, 1);
        for (int i = 0; i < 5; i++) {
            link.send(call(1), HostTensor.of(data), 0, data.length);
        }
        assertEquals(3, link.sent());
        ends.messages(1, 0).receive(call(1), HostTensor.of(new byte[5 * data.length]), 0, 5L * data.length);
        ends.settle();
        assertEquals(5, link.sent());
        link.send(call(1), HostTensor.of(data), 0, data.length);
        assertEquals(6, link.sent());
    }

    @Test
    void aLargeMessageWaitsForItsReceive() {
        byte[] data = new byte[(int) LinkQueue.SMALL_BYTES + 1];
        ends.messages(0, 1).send(call(1), HostTensor.of(data), 0, data.length);
        ends.settle();
        assertEquals(0, ends.messages(0, 1).sent());
    }

    @Test
    void successiveCallsOfARankToItselfStaySeparate() {
        int[] got = new int[5];
        ends.messages(2, 2).receive(call(1), HostTensor.of(got), 0, 2);
        ends.messages(2, 2).receive(call(2), HostTensor.of(got), 2, 3);
        ends.messages(2, 2).send(call(1), HostTensor.of(new int[] {6, 7}), 0, 2);
        ends.messages(2, 2).send(call(2), HostTensor.of(new int[] {3, 4, 5}), 0, 3);
        ends.settle();
        assertArrayEquals(new int[] {6, 7, 3, 4, 5}, got);
    }

    @Test
    void aDifferentHeaderIsReportedAndNothingIsWritten() {
        int[] got = {-1};
        ends.link(0, 1).send(CallHeader.of(1, 1, 77, "another call"), HostTensor.of(new int[] {5}), 0, 1);
        ends.link(1, 0).receive(call(1), HostTensor.of(got), 0, 1);
        ends.settle();
        assertEquals(List.of("mismatched 0 1001 77"), ends.heard(1).lines);
        assertArrayEquals(new int[] {-1}, got);
        assertEquals(0, ends.link(1, 0).received());
        assertEquals(0, ends.link(0, 1).sent());
    }

    @Test
    void moreElementsThanPostedAreAMismatch() {
        ends.link(0, 1).send(call(1), HostTensor.of(new int[] {5, 6}), 0, 2);
        ends.link(1, 0).receive(call(1), HostTensor.of(new int[1]), 0, 1);
        ends.link(1, 0).receive(call(2), HostTensor.of(new int[1]), 0, 1);
        ends.settle();
        assertEquals(List.of("broken 0 PROTOCOL"), ends.heard(1).lines);
        assertTrue(ends.heard(1).causes.get(0).getMessage().contains("found 4 bytes of elements"));
    }

    @Test
    void controlMessagesAreCopiedAndArriveInOrder() {
        ByteBuffer message = ByteBuffer.wrap(new byte[] {'a', 'b'});
        ends.end(0).control(2, message);
        message.put(0, (byte) 'x');
        ends.end(0).control(2, message);
        assertEquals(2, message.remaining());
        ends.settle();
        assertEquals(List.of("control 0 ab", "control 0 xb"), ends.heard(2).lines);
    }

    @Test
    void aLinkToARankOutsideTheGroupIsRefused() {
        assertThrows(InvalidRankException.class, () -> ends.link(0, 3));
        assertThrows(InvalidRankException.class, () -> ends.end(0).control(-1, ByteBuffer.allocate(1)));
    }

    @Test
    void pollReturnsWhetherAnythingMoved() {
        ends.link(1, 0).receive(call(1), HostTensor.of(new int[1]), 0, 1);
        assertFalse(ends.end(1).poll());
        ends.link(0, 1).send(call(1), HostTensor.of(new int[] {5}), 0, 1);
        assertTrue(ends.end(1).poll());
        assertTrue(ends.end(0).poll());
        assertFalse(ends.end(0).poll());
        assertFalse(ends.end(1).poll());
    }
}
