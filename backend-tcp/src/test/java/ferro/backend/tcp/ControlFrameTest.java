package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.spi.Transport.Lane;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Frames of control connections as bytes, and what is kept for groups that nobody listens to. */
class ControlFrameTest {
    @Test
    void framesArriveAsTheyWereMade() throws Refusal {
        DataKey key = new DataKey(3, -99, Lane.POINT_TO_POINT);
        ByteBuffer bytes = ByteBuffer.wrap(
                ControlFrame.noData(key, 5, new Refusal(Code.RESOURCE, "full")).encoded());

        ControlFrame read = ControlFrame.Head.decoded(bytes).withBody(bytes);

        assertEquals(key, DataKey.of(3, read));
        ByteBuffer body = ByteBuffer.wrap(read.body());
        assertEquals(5, body.getInt());
        assertEquals("full", Refusal.decoded(body).getMessage());
    }

    @Test
    void lengthsTypesAndLanesThatCannotBeAreRefusedByTheHead() {
        byte[] right =
                ControlFrame.message(7, ByteBuffer.wrap(new byte[] {1, 2, 3})).encoded();
        int[][] broken = {{0, 0}, {0, 6}, {1, 2}, {1, 0x80}, {4, 0x80}, {5, 1}, {6, 0x11}};
        for (int[] change : broken) {
            byte[] head = java.util.Arrays.copyOf(right, ControlFrame.HEAD_BYTES);
            head[change[0]] = (byte) change[1];

            Refusal refusal = assertThrows(
                    Refusal.class, () -> ControlFrame.Head.decoded(ByteBuffer.wrap(head)), "byte " + change[0]);

            assertEquals(Code.PROTOCOL, refusal.code());
        }
    }

    @Test
    void whatIsKeptForUnknownGroupsIsBoundedAndTheOldestGroupGoesFirst() {
        Inboxes inboxes = new Inboxes();
        int[] dropped = new int[1];
        for (int group = 0; group <= Inboxes.MOST_UNKNOWN_GROUPS; group++) {
            for (int i = 0; i <= Inboxes.MOST_KEPT; i++) {
                ByteBuffer message = ByteBuffer.wrap(new byte[] {(byte) (i + 1)});
                inboxes.deliver(group, counted(message, dropped));
            }
        }
        assertEquals(Inboxes.MOST_UNKNOWN_GROUPS + 1 + Inboxes.MOST_KEPT, dropped[0]);
        Recorder oldest = new Recorder();
        Recorder second = new Recorder();

        inboxes.register(0, oldest);
        inboxes.register(1, second);

        assertTrue(oldest.heard.isEmpty());
        assertEquals(Inboxes.MOST_KEPT, second.heard.size());
        assertArrayEquals(new byte[] {1}, second.next().text().getBytes());
        inboxes.close();
    }

    private static Inboxes.Event counted(ByteBuffer message, int[] dropped) {
        return new Inboxes.Event() {
            @Override
            public void tell(TcpMesh.Listener listener) {
                listener.control(1, message);
            }

            @Override
            public void drop() {
                dropped[0]++;
            }
        };
    }
}
