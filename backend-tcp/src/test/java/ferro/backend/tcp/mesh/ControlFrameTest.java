package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.backend.tcp.net.Refusal;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Frames of control connections as bytes, and what is kept for groups that nobody listens to. */
class ControlFrameTest {
    @Test
    void framesAreDecodedAsTheyWereEncoded() throws Refusal {
        ChannelKey key = new ChannelKey(3, -99, ConnectionPurpose.POINT_TO_POINT);
        ByteBuffer bytes = ByteBuffer.wrap(
                ControlFrame.noData(key, 5, new Refusal(Code.RESOURCE, "full")).encoded());

        ControlFrame read = ControlFrame.FrameHead.decoded(bytes).withBody(bytes);

        assertEquals(key, ChannelKey.of(3, read));
        ByteBuffer body = ByteBuffer.wrap(read.body());
        assertEquals(5, body.getInt());
        assertEquals("full", Refusal.decoded(body).getMessage());
    }

    @Test
    void invalidLengthsTypesAndLanesAreRefusedByTheHead() {
        byte[] right =
                ControlFrame.message(7, ByteBuffer.wrap(new byte[] {1, 2, 3})).encoded();
        int[][] broken = {{0, 0}, {0, 7}, {1, 3}, {1, 0x80}, {4, 0x80}, {5, 1}, {6, 0x11}, {2, 1}, {3, 0x80}, {0, 8}};
        for (int[] change : broken) {
            byte[] head = java.util.Arrays.copyOf(right, ControlFrame.HEAD_BYTES);
            head[change[0]] = (byte) change[1];

            Refusal refusal = assertThrows(
                    Refusal.class, () -> ControlFrame.FrameHead.decoded(ByteBuffer.wrap(head)), "byte " + change[0]);

            assertEquals(Code.PROTOCOL, refusal.code());
        }
    }

    @Test
    void messagesForUnknownGroupsAreBoundedAndTheOldestAreDropped() {
        InboxRouter inboxes = new InboxRouter(2);
        int[] dropped = new int[1];
        for (int group = 0; group <= InboxRouter.MOST_UNKNOWN_GROUPS; group++) {
            for (int i = 0; i <= InboxRouter.FEWEST_KEPT; i++) {
                ByteBuffer message = ByteBuffer.wrap(new byte[] {(byte) (i + 1)});
                inboxes.deliver(group, 1, counted(message, dropped));
            }
        }
        assertEquals(InboxRouter.MOST_UNKNOWN_GROUPS + 1 + InboxRouter.FEWEST_KEPT, dropped[0]);
        Recorder oldest = new Recorder();
        Recorder second = new Recorder();

        inboxes.register(0, oldest.inMesh());
        inboxes.register(1, second.inMesh());

        assertTrue(oldest.heard.isEmpty());
        assertEquals(InboxRouter.FEWEST_KEPT, second.heard.size());
        assertArrayEquals(new byte[] {1}, second.next().text().getBytes());
        inboxes.close();
    }

    @Test
    void connectionsOfALargeUnknownGroupAreKeptBesideItsMessages() {
        int worldSize = 70;
        InboxRouter inboxes = new InboxRouter(worldSize);
        int[] dropped = new int[1];
        for (int i = 0; i < 4 * worldSize; i++) {
            inboxes.deliver(7, 1, counted(ByteBuffer.wrap(new byte[] {5}), dropped));
        }
        for (int peer = 0; peer < ChannelKey.LANES * worldSize; peer++) {
            inboxes.deliver(7, peer, connection(dropped));
        }
        assertEquals(0, dropped[0]);

        inboxes.deliver(7, 1, counted(ByteBuffer.wrap(new byte[] {5}), dropped));
        inboxes.deliver(7, worldSize, connection(dropped));

        assertEquals(2, dropped[0]);
        Recorder late = new Recorder();
        inboxes.register(7, late.inMesh());
        assertEquals((4 + ChannelKey.LANES) * worldSize, late.heard.size());
    }

    @Test
    void framesForAClosedGroupAreDroppedAndForALaterGroupKept() {
        InboxRouter inboxes = new InboxRouter(2);
        int[] dropped = new int[1];
        inboxes.register(7, new Recorder().inMesh());
        inboxes.unregister(7);

        inboxes.deliver(7, 1, connection(dropped));
        inboxes.deliver(8, 1, connection(dropped));

        assertEquals(1, dropped[0]);
        assertTrue(inboxes.isOver(7));
        inboxes.close();
        assertEquals(2, dropped[0]);
        inboxes.deliver(8, 1, connection(dropped));
        assertEquals(3, dropped[0]);
    }

    private static InboxRouter.InboxEvent connection(int[] dropped) {
        return new InboxRouter.InboxEvent() {
            @Override
            public void tell(InboxRouter.GroupReceiver to, int rank) {
                to.data().data(rank, ConnectionPurpose.COLLECTIVE, 0, null);
            }

            @Override
            public void drop() {
                dropped[0]++;
            }

            @Override
            public boolean connection() {
                return true;
            }
        };
    }

    private static InboxRouter.InboxEvent counted(ByteBuffer message, int[] dropped) {
        return new InboxRouter.InboxEvent() {
            @Override
            public void tell(InboxRouter.GroupReceiver to, int rank) {
                to.events().control(rank, message);
            }

            @Override
            public void drop() {
                dropped[0]++;
            }
        };
    }
}
