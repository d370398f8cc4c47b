package ferro.backend.simulated;

import ferro.FerroException;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/** Ends of one group driven by the test's own thread, background tasks included, so that nothing depends on time. */
final class Ends {
    private final Queue<Runnable> background = new ArrayDeque<>();
    private final List<SimulatedTransport> ends = new ArrayList<>();
    private final List<Heard> heard = new ArrayList<>();
    private final NetworkState network;

    Ends(int worldSize) {
        network = new NetworkState(worldSize, new ThreadedMedium(background::add, System::nanoTime));
        for (int rank = 0; rank < worldSize; rank++) {
            SimulatedTransport end = network.join("test", rank);
            ends.add(end);
            heard.add(new Heard());
            end.events(heard.get(rank));
        }
    }

    /** Returns the header of a call. */
    static CallHeader call(long sequence) {
        return CallHeader.of(1, sequence, 1000 + sequence, "call " + sequence);
    }

    SimulatedTransport end(int rank) {
        return ends.get(rank);
    }

    Heard heard(int rank) {
        return heard.get(rank);
    }

    NetworkState network() {
        return network;
    }

    Link link(int rank, int peer) {
        return end(rank).link(peer, Lane.COLLECTIVE);
    }

    Link messages(int rank, int peer) {
        return end(rank).link(peer, Lane.POINT_TO_POINT);
    }

    /** Drives everything until nothing moves any more. */
    void settle() {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (SimulatedTransport end : ends) {
                moved |= end.poll();
            }
            for (Runnable task = background.poll(); task != null; task = background.poll()) {
                task.run();
                moved = true;
            }
        }
    }

    /** What one rank was told, as lines. */
    static final class Heard implements Transport.Events {
        final List<String> lines = new ArrayList<>();
        final List<FerroException> causes = new ArrayList<>();

        @Override
        public void closed(int peer, FerroException cause) {
            lines.add("closed " + peer + " " + cause.code());
        }

        @Override
        public void lost(int peer, FerroException cause) {
            lines.add("lost " + peer + " " + cause.code());
            causes.add(cause);
        }

        @Override
        public void broken(int peer, FerroException cause) {
            lines.add("broken " + peer + " " + cause.code());
            causes.add(cause);
        }

        @Override
        public void mismatched(int peer, CallHeader expected, CallHeader found) {
            lines.add("mismatched " + peer + " " + expected.fingerprint() + " " + found.fingerprint());
        }

        @Override
        public void control(int peer, ByteBuffer message) {
            lines.add("control " + peer + " " + StandardCharsets.UTF_8.decode(message));
        }
    }
}
