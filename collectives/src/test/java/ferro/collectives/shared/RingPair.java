package ferro.collectives.shared;

import ferro.FerroException;
import ferro.collectives.shared.IntraNodeLinks.IntraNodeLink;
import ferro.spi.CallHeader;
import ferro.spi.GroupSpec;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Two ranks with rings between them, without a transport; the test drives both. */
final class RingPair {
    final Side first;
    final Side second;

    RingPair() {
        SegmentLayout layout = OneJvm.layout(2, 0);
        OneJvm memory = new OneJvm(2, layout.end());
        first = new Side(0, layout, memory);
        second = new Side(1, layout, memory);
    }

    void driveUntil(BooleanSupplier done) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!done.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not done after 20 s: " + first + ", " + second);
            }
            first.links.poll();
            second.links.poll();
        }
    }

    void driveUntilStill() {
        int still = 0;
        while (still < 10) {
            still = first.links.poll() | second.links.poll() ? 0 : still + 1;
        }
    }

    /** One end and what it was told. */
    static final class Side implements Transport.Events {
        final IntraNodeLinks links;
        final IntraNodeLink link;
        final List<String> broken = new ArrayList<>();
        final List<CallHeader> expected = new ArrayList<>();
        final List<CallHeader> found = new ArrayList<>();

        Side(int rank, SegmentLayout layout, OneJvm memory) {
            ByteBuffer[] areas = {memory.of(rank).area(0), memory.of(rank).area(1)};
            SleepingRanks nobody = new SleepingRanks(rank, layout.asleep(), areas, System::nanoTime, peer -> {
                throw new IllegalStateException("rank " + peer + " never slept");
            });
            GroupSpec group = GroupSpec.of("pair", rank, 2, Duration.ofSeconds(1));
            links = new IntraNodeLinks(group, layout, areas, nobody, () -> this);
            link = links.link(1 - rank, Lane.COLLECTIVE);
        }

        @Override
        public void broken(int peer, FerroException cause) {
            broken.add(cause.getMessage());
        }

        @Override
        public void mismatched(int peer, CallHeader posted, CallHeader came) {
            expected.add(posted);
            found.add(came);
        }

        @Override
        public void lost(int peer, FerroException cause) {
            throw new AssertionError(cause);
        }

        @Override
        public void control(int peer, ByteBuffer message) {
            throw new AssertionError("a message from rank " + peer);
        }

        @Override
        public String toString() {
            return link.sent() + " sent, " + link.received() + " received, " + link.bytesMoved() + " bytes, broken "
                    + broken;
        }
    }
}
