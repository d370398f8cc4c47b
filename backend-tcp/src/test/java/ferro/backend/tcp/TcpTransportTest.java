package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.Medium;
import ferro.backend.tcp.mesh.Ranks;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import io.netty.util.internal.PlatformDependent;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The links of groups over a real mesh. */
@Timeout(60)
class TcpTransportTest {
    private static final CallHeader CALL = CallHeader.of(0, 1, 0x1234, "exchange");
    private static final int[] ALL = {0, 1, 2};
    /** Linux gives a connection at most 4 MiB to send and 6 MiB to receive, of its own accord (tcp_wmem, tcp_rmem). */
    private static final long MOST_IN_KERNEL = 32L << 20;

    private Ranks ranks;
    private List<TcpTransport> transports;
    private List<Heard> heard;

    @BeforeEach
    void joinThree() {
        ranks = Ranks.onLoopback();
        transports = ranks.joinAll(3).stream()
                .map(mesh -> new TcpTransport(mesh, 0, ALL, System::nanoTime))
                .toList();
        heard = transports.stream().map(Heard::by).toList();
    }

    @AfterEach
    void leave() {
        transports.forEach(TcpTransport::close);
        ranks.close();
    }

    @Test
    void allRanksReportTheSameMedium() {
        Medium three = new Medium("TCP (loopback)", List.of("127.0.0.1", "127.0.0.1", "127.0.0.1"));

        transports.forEach(transport -> assertEquals(three, transport.medium()));
        try (Transport pair = transports.get(2).subgroup(new int[] {2, 0}, 5);
                Transport lone = transports.get(1).subgroup(new int[] {1}, 6)) {
            assertEquals(new Medium("TCP (loopback)", List.of("127.0.0.1", "127.0.0.1")), pair.medium());
            assertEquals(Medium.UNKNOWN, lone.medium());
        }
    }

    @Test
    void aWakeUpBeforeTheFirstSleepEndsThatSleep() {
        transports.get(0).wakeup();
        transports.get(0).park(System.nanoTime() + TimeUnit.HOURS.toNanos(1));
    }

    @Test
    void aPeerReceivesElementsThatWereSentBeforeItOpenedTheLink() {
        float[] copy = new float[2];
        transports.get(0).link(2, Lane.COLLECTIVE).send(CALL, HostTensor.of(new float[] {3, 5}), 0, 2);
        drive(transports, () -> transports.get(0).link(2, Lane.COLLECTIVE).sent() == 1);
        Link late = transports.get(2).link(0, Lane.COLLECTIVE);
        late.receive(CALL, HostTensor.of(copy), 0, 2);
        drive(transports, () -> late.received() == 1);
        assertEquals(5, copy[1]);
    }

    @Test
    void aRankDetectsWhichLanesItsPeersHaveOpened() {
        TcpTransport middle = transports.get(1);
        HostTensor data = HostTensor.of(new int[] {7});
        transports.get(0).link(1, Lane.POINT_TO_POINT).send(CALL, data, 0, 1);
        drive(transports, () -> middle.isOpenedBy(0, Lane.POINT_TO_POINT));
        assertFalse(middle.isOpenedBy(2, Lane.POINT_TO_POINT), "rank 2 has sent nothing");

        // rank 1 makes this connection, because rank 2 asks for it
        transports.get(2).link(1, Lane.POINT_TO_POINT).send(CALL, data, 0, 1);
        drive(transports, () -> middle.isOpenedBy(2, Lane.POINT_TO_POINT));
        assertFalse(middle.isOpenedBy(0, Lane.COLLECTIVE), "the other lane was not used");
        assertFalse(transports.get(0).isOpenedBy(2, Lane.POINT_TO_POINT), "ranks 0 and 2 have sent each other nothing");
    }

    @Test
    void lanesOfOnePairDoNotWaitForEachOther() {
        int[] copy = new int[1];
        transports.get(0).link(1, Lane.COLLECTIVE).send(CALL, HostTensor.of(new float[16 << 20]), 0, 16 << 20);
        transports.get(0).link(1, Lane.POINT_TO_POINT).send(CALL, HostTensor.of(new int[] {7}), 0, 1);
        Link lane = transports.get(1).link(0, Lane.POINT_TO_POINT);
        lane.receive(CALL, HostTensor.of(copy), 0, 1);
        drive(transports, () -> lane.received() == 1);
        assertEquals(7, copy[0]);
    }

    @Test
    @DisplayName(
            "row 33: a rank that reads nothing holds its sender up at what the kernel takes, and messages still pass")
    void aRankThatReadsNothingStopsItsSenderButNotMessages() {
        int count = 16 << 20;
        float[] data = new float[count];
        data[count - 1] = 7;
        Link sending = transports.get(0).link(2, Lane.COLLECTIVE);
        sending.send(CALL, HostTensor.of(data), 0, count);
        Link receiving = transports.get(2).link(0, Lane.COLLECTIVE);
        drive(transports, () -> sending.bytesMoved() > 0);
        long before = PlatformDependent.usedDirectMemory();
        int still = 0;
        while (still < 1_000) {
            still = transports.get(0).poll() ? 0 : still + 1;
        }

        assertTrue(sending.bytesMoved() < MOST_IN_KERNEL, sending.bytesMoved() + " bytes were taken");
        assertTrue(PlatformDependent.usedDirectMemory() - before < 1 << 20, "bytes are kept on the way");
        long worst = 0;
        for (int i = 0; i < 50; i++) {
            long start = System.nanoTime();
            transports.get(0).control(2, ByteBuffer.wrap(new byte[] {3}));
            assertEquals("control 0 [3]", heard.get(2).next());
            worst = Math.max(worst, System.nanoTime() - start);
        }
        assertTrue(worst < TimeUnit.SECONDS.toNanos(1), worst + " ns for a message");
        float[] copy = new float[count];
        receiving.receive(CALL, HostTensor.of(copy), 0, count);
        drive(transports, () -> receiving.received() == 1);
        assertEquals(7, copy[count - 1]);
    }

    @Test
    void aSubgroupCountsItsOwnRanksAndOutlivesItsParent() {
        Transport first = transports.get(2).subgroup(new int[] {2, 0}, 77);
        Transport second = transports.get(0).subgroup(new int[] {2, 0}, 77);
        Heard events = Heard.by(second);
        Heard.by(first);
        transports.get(2).close();
        transports.get(0).abandon();
        int[] copy = new int[1];
        assertEquals(0, first.rank());
        assertEquals(1, second.rank());
        first.link(1, Lane.COLLECTIVE).send(CALL, HostTensor.of(new int[] {7}), 0, 1);
        second.link(0, Lane.COLLECTIVE).receive(CALL, HostTensor.of(copy), 0, 1);
        drive(List.of(first, second), () -> second.link(0, Lane.COLLECTIVE).received() == 1);
        first.control(1, ByteBuffer.wrap(new byte[] {9}));

        assertEquals(7, copy[0]);
        assertEquals("control 0 [9]", events.next());
        first.close();
        second.close();
    }

    @Test
    void postsAfterAnAbandonAreIgnoredAndThePeerIsNotified() {
        transports.get(1).link(0, Lane.COLLECTIVE).receive(CALL, HostTensor.of(new float[4]), 0, 4);
        Link sending = transports.get(0).link(1, Lane.COLLECTIVE);
        sending.send(CALL, HostTensor.of(new float[3]), 0, 3);
        drive(transports, () -> sending.sent() == 1);
        transports.get(0).abandon();
        transports.get(0).abandon();
        sending.send(CALL, HostTensor.of(new float[1]), 0, 1);
        transports.get(0).link(2, Lane.COLLECTIVE).send(CALL, HostTensor.of(new float[1]), 0, 1);
        drive(transports, () -> !heard.get(1).told.isEmpty());

        assertEquals(1, sending.sent());
        String told = heard.get(1).next();
        assertTrue(told.startsWith("broken 0 rank 1 of \"g\" lost rank 0: their collective connection ended"), told);
        assertTrue(told.contains("12 of 16 bytes received, 1 receives and 0 sends unfinished"), told);
    }

    @Test
    void controlMessagesContinueAfterAbandon() {
        transports.get(0).abandon();
        transports.get(0).control(1, ByteBuffer.wrap(new byte[] {3, 5}));
        transports.get(1).control(0, ByteBuffer.wrap(new byte[] {7}));
        assertEquals("control 0 [3, 5]", heard.get(1).next());
        assertEquals("control 1 [7]", heard.get(0).next());
    }

    @Test
    void aNewConnectionEndsAWait() {
        transports.get(1).link(0, Lane.COLLECTIVE).receive(CALL, HostTensor.of(new float[1]), 0, 1);
        transports.get(0).link(1, Lane.COLLECTIVE);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!transports.get(1).poll()) {
            assertTrue(System.nanoTime() - deadline < 0, "no connection came");
            transports.get(1).park(deadline);
        }
    }

    @Test
    void aRankWakesOnlyTheAddressedRankInASubgroupToo() {
        rings(transports.get(0), 2, transports.get(2), transports.get(1));
        Transport[] apart = new Transport[2];
        // rank 0 of this group is rank 2 of the world
        apart[0] = transports.get(2).subgroup(new int[] {2, 1}, 77);
        apart[1] = transports.get(1).subgroup(new int[] {2, 1}, 77);
        for (Transport one : apart) {
            one.events(new Heard());
        }
        rings((TcpTransport) apart[1], 0, (TcpTransport) apart[0], transports.get(2));
        for (Transport one : apart) {
            one.close();
        }
    }

    private static void rings(TcpTransport ringer, int peer, TcpTransport sleeper, TcpTransport other) {
        long before = sleeper.rung();
        long otherBefore = other.rung();
        drive(List.of(ringer, sleeper, other), () -> ringer.signal(peer));
        drive(List.of(ringer, sleeper, other), () -> {
            sleeper.park(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(10));
            other.park(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1));
            return sleeper.rung() > before;
        });
        assertEquals(otherBefore, other.rung());
    }

    @Test
    void aClosedTransportRefusesLinksAndDoesNothing() {
        TcpTransport closed = transports.get(0);
        closed.close();
        closed.close();
        closed.wakeup();
        closed.park(System.nanoTime() + TimeUnit.SECONDS.toNanos(30));
        assertFalse(closed.poll());
        assertThrows(IllegalStateException.class, () -> closed.link(1, Lane.COLLECTIVE));
    }

    @Test
    void aRankHasNoLinkToItself() {
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class, () -> transports.get(1).link(1, Lane.COLLECTIVE));
        assertEquals("rank 1 of \"g\" has no link to itself", refused.getMessage());
    }

    private static void drive(List<? extends Transport> driven, BooleanSupplier done) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!done.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "not done after 20 s: " + driven);
            driven.forEach(Transport::poll);
        }
    }

    /** Keeps what a transport tells. */
    private static final class Heard implements Transport.Events {
        final BlockingQueue<String> told = new LinkedBlockingQueue<>();

        static Heard by(Transport transport) {
            Heard made = new Heard();
            transport.events(made);
            return made;
        }

        String next() {
            try {
                return String.valueOf(told.poll(20, TimeUnit.SECONDS));
            } catch (InterruptedException interrupted) {
                throw new AssertionError("interrupted while listening", interrupted);
            }
        }

        @Override
        public void lost(int peer, FerroException cause) {
            told.add("lost " + peer + " " + cause.getMessage());
        }

        @Override
        public void broken(int peer, FerroException cause) {
            told.add("broken " + peer + " " + cause.getMessage());
        }

        @Override
        public void mismatched(int peer, CallHeader expected, CallHeader found) {
            told.add("mismatched " + peer + " " + found);
        }

        @Override
        public void control(int peer, ByteBuffer message) {
            byte[] bytes = new byte[message.remaining()];
            message.get(bytes);
            told.add("control " + peer + " " + Arrays.toString(bytes));
        }
    }
}
