package ferro.examples.files;

import static ferro.harness.Says.assertFailed;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.group.SystemContext;
import ferro.spi.CallHeader;
import ferro.spi.GroupSpec;
import ferro.spi.Link;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two transports of a group without the engine. The engine would learn that a rank has left before it finds the end of
 * a link.
 */
class EndOfALinkTest {
    private static final CallHeader CALL = CallHeader.of(0, 4, 0x77, "four");

    @TempDir
    Path folder;

    private final List<FerroException> broken = new CopyOnWriteArrayList<>();
    private final Semaphore notified = new Semaphore(0);

    @Test
    void dataBeforeTheEndOfALinkArrivesBeforeTheFailure() {
        int[] first = new int[2];
        int[] second = new int[1];
        try (Transport stays = end(0)) {
            try (Transport leaves = end(1)) {
                leaves.link(0, Lane.COLLECTIVE).send(CALL, HostTensor.of(new int[] {8, 9}), 0, 2);
                assertTrue(leaves.poll(), "nothing was sent");
            }
            Link link = stays.link(1, Lane.COLLECTIVE);
            link.receive(CALL, HostTensor.of(first), 0, 2);
            link.receive(CALL, HostTensor.of(second), 0, 1);

            assertTrue(stays.poll(), "the sent data have not arrived");
            assertEquals(List.of(), broken);
            assertFalse(stays.poll(), "data arrived from a rank that has left");
            assertFalse(stays.poll(), "data arrived over a link that is broken");

            assertArrayEquals(new int[] {8, 9}, first);
            assertEquals(1, link.received());
            assertEquals(1, broken.size(), "number of reports of the broken link");
            assertFailed(Code.PEER_LOST, broken.get(0), "0 of 4 bytes received");
            assertEquals(4, broken.get(0).where().sequence(), "the call that waited");
        }
    }

    @Test
    void bytesThatAreNotAMessageBreakTheConnectionOnce() throws Exception {
        try (Transport hears = end(0)) {
            Path file = folder.resolve("two");
            try (FileChannel channel = FileChannel.open(file, READ, WRITE)) {
                // the ring of control messages from rank 1 to rank 0 follows the rings of its two lanes
                int ring = (1 + 2 * 3 + 2) * RingEnd.BYTES;
                ByteBuffer memory =
                        channel.map(MapMode.READ_WRITE, ring, RingEnd.BYTES).order(ByteOrder.nativeOrder());
                memory.putInt(128, -7);
                RingEnd.WORD.setRelease(memory, 0, 4L);
            }
            assertTrue(notified.tryAcquire(20, TimeUnit.SECONDS), "the broken link was not reported");
            assertFalse(notified.tryAcquire(50, TimeUnit.MILLISECONDS), "the broken link was reported twice");

            assertEquals(Code.PROTOCOL, broken.get(0).code());
            assertEquals(hears.rank(), broken.get(0).where().rank());
            assertEquals(
                    "rank 0 of \"two\" cannot read a message of rank 1: a message of -7 bytes arrived: need 0 to 4096",
                    broken.get(0).getMessage());
        }
    }

    private Transport end(int rank) {
        GroupSpec spec = GroupSpec.of("two", rank, 2, Duration.ofSeconds(1));
        Transport end = new FileTransport(folder.resolve("two"), spec, SystemContext.of(Map.of()));
        end.events(new Heard());
        return end;
    }

    private final class Heard implements Transport.Events {
        @Override
        public void broken(int peer, FerroException cause) {
            assertEquals(Set.of(1), cause.where().culprits());
            broken.add(cause);
            notified.release();
        }

        @Override
        public void lost(int peer, FerroException cause) {
            throw new AssertionError("no process has died", cause);
        }

        @Override
        public void mismatched(int peer, CallHeader expected, CallHeader found) {
            throw new AssertionError("the headers are equal");
        }

        @Override
        public void control(int peer, ByteBuffer message) {
            throw new AssertionError("no rank has sent a control message");
        }
    }
}
