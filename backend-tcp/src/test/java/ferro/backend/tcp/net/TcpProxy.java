package ferro.backend.tcp.net;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Stands between a rank and those that connect to it, and does to their connections what a bad network would.
 *
 * <p>It listens at {@link #HOST}, the rank behind it at the same port of 127.0.0.1; the rank's {@link #settings} see to both.
 */
public final class TcpProxy implements AutoCloseable {
    static final String HOST = "127.0.0.3";
    private static final int PIECE_BYTES = 16 * 1024;
    private static final int KIND_AT = 13;
    /** Above the 10 ms for which a link writes on without looking. */
    private static final long IDLE_MILLIS = 15;

    private final ServerSocket server;
    private final AtomicLong passed = new AtomicLong();
    private final List<Connection> connections = new CopyOnWriteArrayList<>();
    private volatile Fault data = Fault.NONE;
    private volatile Fault control = Fault.NONE;
    private volatile CountDownLatch held = new CountDownLatch(0);
    private volatile HeldAnswers heldAnswers =
            new HeldAnswers(new AtomicInteger(), (data, from, length) -> false, null);
    private volatile long delayNanos;

    /** What becomes of the bytes of one direction; called for each piece, in order. */
    public interface Fault {
        /** Passes everything on. */
        Fault NONE = (from, bytes, length) -> true;

        /**
         * Looks at a piece, and may change it or take its time.
         *
         * @param from   place of the piece in its direction
         * @param bytes  the piece
         * @param length how many of them
         * @return false to reset the connection before the piece is passed on
         */
        boolean on(long from, byte[] bytes, int length);

        /** Resets the connection once so many bytes have passed. */
        static Fault reset(long after) {
            return (from, bytes, length) -> from + length <= after;
        }

        /** Changes one bit of one byte. */
        static Fault flip(long place) {
            return (from, bytes, length) -> {
                if (place >= from && place < from + length) {
                    bytes[(int) (place - from)] ^= 0x10;
                }
                return true;
            };
        }

        /** Changes one bit of byte {@code at} of the first message behind {@code after} bytes, on one connection. */
        static Fault flipInMessage(long after, int at) {
            AtomicBoolean flipped = new AtomicBoolean();
            return (from, bytes, length) -> {
                if (from >= after && at < length && flipped.compareAndSet(false, true)) {
                    bytes[at] ^= 0x10;
                }
                return true;
            };
        }

        /** Lets the fault befall connections of one rank alone; each connection is passed on by a thread of its own. */
        static Fault ofRank(int rank, Fault fault) {
            ThreadLocal<Boolean> isOfRank = new ThreadLocal<>();
            return (from, bytes, length) -> {
                if (from == 0) {
                    isOfRank.set(Connection.helloOf(bytes).member().rank() == rank);
                }
                return !isOfRank.get() || fault.on(from, bytes, length);
            };
        }

        /** Passes on so many bytes per second. */
        static Fault slow(long bytesPerSecond) {
            return (from, bytes, length) -> {
                LockSupport.parkNanos(length * 1_000_000_000L / bytesPerSecond);
                return true;
            };
        }
    }

    public TcpProxy() throws IOException {
        server = new ServerSocket();
        server.bind(new InetSocketAddress(InetAddress.getByName(HOST), Sockets.freePort()));
        start("proxy-accept", this::accept);
    }

    /** Returns the address that it listens at. */
    public InetSocketAddress at() {
        return (InetSocketAddress) server.getLocalSocketAddress();
    }

    /** What the rank behind needs. */
    public Map<String, String> settings() {
        return settings(server);
    }

    static Map<String, String> settings(ServerSocket server) {
        String port = Integer.toString(server.getLocalPort());
        return Map.of("ferro.tcp.port", port, "ferro.tcp.bind", "127.0.0.1", "ferro.tcp.advertise", HOST);
    }

    /** Befalls data connections that come from now on, in the direction to the rank behind. */
    public void onData(Fault fault) {
        data = fault;
    }

    /** Befalls control connections that come from now on, in the direction to the rank behind. */
    public void onControl(Fault fault) {
        control = fault;
    }

    /** How a connection that is there ends. */
    public enum End {
        /** Both sides read an end of the stream; what they write after it is lost. */
        CLOSED,
        /** Both sides are told that it was reset. */
        RESET,
        /** The side that connected reads an end of the stream, and the rank behind the proxy reads nothing. */
        CLOSED_HERE,
        /** The rank behind the proxy reads an end of the stream, and the side that connected reads nothing. */
        CLOSED_THERE
    }

    /** Ends the control connections that are there; returns how many. */
    public int endControl(End how) {
        List<Connection> ending =
                connections.stream().filter(one -> !one.isData && !one.isEnded).toList();
        ending.forEach(one -> one.end(how));
        return ending.size();
    }

    /**
     * Ends the data connections that are there, and returns how many only when links have been idle for so long that they look
     * for an end before they write. What a link writes sooner may be lost, and it says so.
     */
    public int endIdleData(End how) {
        return endEachIdle(how).size();
    }

    /** Does the same as {@link #endIdleData}, and returns by which hello each connection was made that it ended. */
    public List<Hello> endEachIdle(End how) {
        List<Hello> ended = endData(how);
        try {
            Thread.sleep(IDLE_MILLIS);
        } catch (InterruptedException interrupted) {
            throw new AssertionError("interrupted between two calls", interrupted);
        }
        return ended;
    }

    /** Ends the data connections that are there, and returns by which hello each was made. */
    public List<Hello> endData(End how) {
        List<Connection> ending =
                connections.stream().filter(one -> one.isData && !one.isEnded).toList();
        ending.forEach(one -> one.end(how));
        return ending.stream().map(one -> one.hello).toList();
    }

    /** Returns how many data connections there are. */
    public int dataConnections() {
        return (int)
                connections.stream().filter(one -> one.isData && !one.isEnded).count();
    }

    /** Returns how many data connections there have been. */
    public int allDataConnections() {
        return (int) connections.stream().filter(one -> one.isData).count();
    }

    /** Returns how many bytes of data connections have been passed on to the rank behind. */
    public long passed() {
        return passed.get();
    }

    /** Passes each piece on so much later, in both directions of all connections that come from now on. */
    public void delay(Duration delay) {
        delayNanos = delay.toNanos();
    }

    /** Refuses connections from now on. */
    public void refuse() throws IOException {
        server.close();
    }

    /** Where answers of the rank behind are held back. */
    public interface AnswerPoint {
        /** Returns whether a piece is held back, by its connection, a data connection or not, and its place in its direction. */
        boolean isAt(boolean data, long from, int length);
    }

    /**
     * Answers to be held back.
     *
     * @param left  of how many connections
     * @param point from which piece on
     * @param until counted down when they go on
     */
    private record HeldAnswers(AtomicInteger left, AnswerPoint point, CountDownLatch until) {
        boolean holds(boolean data, long from, int length) {
            return point.isAt(data, from, length) && left.getAndDecrement() > 0;
        }
    }

    /** Holds back the answers of the next connections that come to a point, and the ends of these connections, until the latch opens. */
    public void holdAnswers(int count, AnswerPoint point, CountDownLatch until) {
        heldAnswers = new HeldAnswers(new AtomicInteger(count), point, until);
    }

    /** Returns how many more connections {@link #holdAnswers} holds back. */
    public int answersToHold() {
        return Math.max(0, heldAnswers.left.get());
    }

    /** Waits for the end of the connections whose answers were held back, at the rank behind too. */
    public void awaitHeldEnds() {
        connections.stream().filter(one -> one.wasHeld).forEach(Connection::awaitEnd);
    }

    /** Passes nothing more on to the rank behind until told, on any connection. */
    public void hold(CountDownLatch until) {
        held = until;
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket from = server.accept();
                Socket to = new Socket("127.0.0.1", server.getLocalPort());
                from.setTcpNoDelay(true);
                to.setTcpNoDelay(true);
                Connection made = new Connection(from, to);
                connections.add(made);
                start("proxy-there", made::there);
                start("proxy-back", made::back);
            } catch (IOException closed) {
                return;
            }
        }
    }

    static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        try {
            server.close();
            connections.forEach(Connection::reset);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** One connection that passes. */
    private final class Connection {
        private final Socket from;
        private final Socket to;
        private final CountDownLatch passing = new CountDownLatch(2);
        private volatile CountDownLatch answering = new CountDownLatch(0);
        private Fault fault;
        /** Set before {@link #isData}. */
        private Hello hello;

        private volatile boolean wasHeld;
        private volatile boolean isData;
        private volatile boolean isEnded;

        Connection(Socket from, Socket to) {
            this.from = from;
            this.to = to;
        }

        void there() {
            pass(from, to, true);
        }

        void back() {
            pass(to, from, false);
        }

        private void pass(Socket source, Socket sink, boolean there) {
            try {
                InputStream in = source.getInputStream();
                OutputStream out = delayNanos > 0 ? new LateOutput(sink, delayNanos) : sink.getOutputStream();
                byte[] bytes = new byte[PIECE_BYTES];
                long place = 0;
                for (int length = in.read(bytes); length >= 0; length = in.read(bytes)) {
                    if (there) {
                        held.await();
                    } else if (heldAnswers.holds(isData, place, length)) {
                        answering = heldAnswers.until;
                        wasHeld = true;
                        answering.await();
                    }
                    if (there && !fault(place, bytes).on(place, bytes, length)) {
                        reset();
                        return;
                    }
                    out.write(bytes, 0, length);
                    place += length;
                    passed.addAndGet(there && isData ? length : 0);
                }
                answering.await();
                sink.shutdownOutput();
            } catch (IOException | InterruptedException ended) {
                if (!isEnded) {
                    reset();
                }
            } finally {
                passing.countDown();
            }
        }

        /** The hello comes in the first piece, and says what the connection is for. */
        private Fault fault(long place, byte[] bytes) throws IOException {
            if (place == 0) {
                boolean carriesData = bytes[KIND_AT] == Hello.ConnectionKind.DATA.ordinal() + 1;
                hello = carriesData ? hello(bytes) : null;
                isData = carriesData;
                fault = carriesData ? data : control;
            }
            return fault;
        }

        static Hello helloOf(byte[] bytes) {
            try {
                return hello(bytes);
            } catch (IOException unreadable) {
                throw new UncheckedIOException(unreadable);
            }
        }

        private static Hello hello(byte[] bytes) throws IOException {
            try {
                int following = Hello.following(ByteBuffer.wrap(bytes, 0, Hello.PREFIX_BYTES));
                return Hello.decoded(ByteBuffer.wrap(bytes, Hello.PREFIX_BYTES, following));
            } catch (Refusal unreadable) {
                throw new IOException("no hello in the first piece of a connection", unreadable);
            }
        }

        void end(End how) {
            isEnded = true;
            switch (how) {
                case RESET -> {
                    reset();
                    awaitEnd();
                }
                case CLOSED_HERE -> close(from);
                case CLOSED_THERE -> close(to);
                case CLOSED -> {
                    close(from);
                    close(to);
                    awaitEnd();
                }
            }
        }

        /** The kernel resets a connection only when no thread waits in a read of it any more. */
        private void awaitEnd() {
            try {
                if (!passing.await(60, TimeUnit.SECONDS)) {
                    throw new AssertionError("a thread of the proxy still reads what was closed");
                }
            } catch (InterruptedException interrupted) {
                throw new AssertionError("interrupted while a connection of the proxy ends", interrupted);
            }
        }

        private void close(Socket one) {
            try {
                one.close();
            } catch (IOException gone) {
                // that is what it is for
            }
        }

        void reset() {
            for (Socket one : List.of(from, to)) {
                try {
                    one.setSoLinger(true, 0);
                    one.close();
                } catch (IOException gone) {
                    // that is what it is for
                }
            }
        }
    }
}
