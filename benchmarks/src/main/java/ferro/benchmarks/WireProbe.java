package ferro.benchmarks;

import ferro.group.ProcessGroup;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Arrays;

/**
 * A probe that measures the current speed of machine and network without ferro. The result is half the time of a round
 * trip of 4 bytes over a plain connection between ranks 0 and 1. Ranks 0 and 1 spin while they wait. The connection is
 * over loopback if ranks 0 and 1 have the same address. If the probe gave different results, the times measured next to
 * these results are not comparable.
 */
public final class WireProbe implements AutoCloseable {
    private static final int ROUND_TRIPS = 500;
    private static final int WARM_UP_TRIPS = 20_000;
    private static final long WARM_UP_NANOS = Duration.ofMillis(150).toNanos();
    private static final long BOUND_NANOS = Duration.ofSeconds(1).toNanos();
    /** Number of spins before a rank yields its core, because the host may have more threads than cores. */
    private static final int SPINS = 200;

    private static final int MORE = 1;
    private static final int LAST = 2;

    private final SocketChannel connection;
    private final boolean first;
    private final ByteBuffer message = ByteBuffer.allocateDirect(4);

    private WireProbe(SocketChannel connection, boolean first) {
        this.connection = connection;
        this.first = first;
    }

    /**
     * Connects ranks 0 and 1. Every rank must call this method. If the connection fails, no probe is measured, and rank
     * 0 prints the reason. For example, a firewall may block every port except the port of ferro.
     */
    static WireProbe open(ProcessGroup group, PrintStream complaints) {
        ProbeConnection wire = ProbeConnection.between(group);
        wire.trouble().ifPresent(why -> complaints.println("ferro bench: the results have no probe: " + why));
        return new WireProbe(wire.connection(), group.rank() == 0);
    }

    /**
     * The two ends of a probe in one process.
     *
     * @param first  end that sends first and measures the time
     * @param second end that answers, on another thread
     */
    public record ProbePair(WireProbe first, WireProbe second) implements AutoCloseable {
        /**
         * Measures round trips, while another thread runs {@link #follow} on the other end.
         *
         * @return half the time of a round trip, in microseconds
         * @throws IOException if the other thread does not answer in time
         */
        public double lead() throws IOException {
            return first.halfRoundTripMicros();
        }

        /**
         * Answers messages until the other thread has finished.
         *
         * @return a value without meaning
         * @throws IOException if the other thread sends nothing in time
         */
        public double follow() throws IOException {
            return second.halfRoundTripMicros();
        }

        @Override
        public void close() throws IOException {
            first.close();
            second.close();
        }
    }

    /**
     * Connects two threads of this process.
     *
     * @return two connected ends
     * @throws IOException if this machine has no loopback interface
     */
    public static ProbePair pair() throws IOException {
        InetSocketAddress endpoint = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(endpoint)) {
            SocketChannel second = SocketChannel.open(server.getLocalAddress());
            return new ProbePair(
                    new WireProbe(ProbeConnection.plain(server.accept()), true),
                    new WireProbe(ProbeConnection.plain(second), false));
        }
    }

    /** Runs the probe until its code is compiled. Without this, the results would depend on the JIT compiler. */
    void warmUp() throws IOException {
        exchange(WARM_UP_TRIPS, WARM_UP_NANOS);
    }

    /**
     * Returns half a round trip in microseconds on rank 0. Returns NaN on other ranks and without a connection. All
     * ranks must call this method.
     */
    double halfRoundTripMicros() throws IOException {
        return exchange(ROUND_TRIPS, BOUND_NANOS);
    }

    private double exchange(int roundTrips, long nanos) throws IOException {
        if (connection == null) {
            return Double.NaN;
        }
        return first ? lead(roundTrips, nanos) : follow();
    }

    /**
     * Makes round trips until {@code roundTrips} round trips are made or the time has passed. The last message stops
     * the other rank.
     */
    private double lead(int roundTrips, long nanos) throws IOException {
        long deadline = System.nanoTime() + nanos;
        double[] micros = new double[roundTrips];
        int done = 0;
        boolean last = false;
        while (!last) {
            last = done == roundTrips - 1 || late(deadline);
            long start = System.nanoTime();
            // the other rank may not have a core at the moment
            send(last ? LAST : MORE, deadline + 30 * BOUND_NANOS);
            receive(deadline + 30 * BOUND_NANOS);
            micros[done++] = (System.nanoTime() - start) / 2000.0;
        }
        Arrays.sort(micros, 0, done);
        return micros[done / 2];
    }

    private double follow() throws IOException {
        // rank 0 may begin much later than this rank, because rank 0 first counts wrong elements
        long deadline = System.nanoTime() + 30 * BOUND_NANOS;
        int word = MORE;
        while (word != LAST) {
            word = receive(deadline);
            send(word, deadline);
        }
        return Double.NaN;
    }

    private void send(int word, long deadline) throws IOException {
        message.clear().putInt(0, word);
        while (message.hasRemaining()) {
            connection.write(message);
            checkTime(deadline);
        }
    }

    private int receive(long deadline) throws IOException {
        message.clear();
        for (int tries = 0; message.hasRemaining(); tries++) {
            if (connection.read(message) < 0) {
                throw new IOException("probe: the other rank closed " + connection + " early");
            }
            if (tries > SPINS) {
                Thread.yield();
            }
            checkTime(deadline);
        }
        return message.getInt(0);
    }

    private void checkTime(long deadline) throws IOException {
        if (late(deadline)) {
            throw new IOException("probe: no answer over " + connection + " in time");
        }
    }

    private static boolean late(long deadline) {
        return System.nanoTime() - deadline > 0;
    }

    @Override
    public void close() throws IOException {
        if (connection != null) {
            connection.close();
        }
    }
}
