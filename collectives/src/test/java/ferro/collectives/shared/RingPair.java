package ferro.collectives.shared;

import ferro.spi.CallHeader;
import ferro.spi.Transport.Lane;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Two ranks with rings between them, without a transport; the test drives both. */
final class RingPair {
    final Side first;
    final Side second;

    RingPair() {
        RingLayout layout = new RingLayout(2, 0, true);
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
    static final class Side implements IntraNodeLinks.RingEvents {
        final IntraNodeLinks links;
        final IntraNodeLink link;
        final List<String> broken = new ArrayList<>();
        final List<CallHeader> expected = new ArrayList<>();
        final List<CallHeader> found = new ArrayList<>();

        Side(int rank, RingLayout layout, OneJvm memory) {
            ByteBuffer[] areas = IntraNodeLinks.areas(memory.of(rank), new boolean[] {true, true});
            Sleepers nobody = new Sleepers(rank, layout.asleep(), areas, System::nanoTime, peer -> {
                throw new IllegalStateException("rank " + peer + " never slept");
            });
            links = new IntraNodeLinks(rank, layout, areas, nobody, this);
            link = links.link(1 - rank, Lane.COLLECTIVE);
        }

        @Override
        public void broken(int peer, long sequence, String progress) {
            broken.add(progress);
        }

        @Override
        public void mismatched(int peer, CallHeader posted, CallHeader came) {
            expected.add(posted);
            found.add(came);
        }

        @Override
        public String toString() {
            return link.sent() + " sent, " + link.received() + " received, " + link.bytesMoved() + " bytes, broken "
                    + broken;
        }
    }
}
