package ferro.backend.tcp.net;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Replays recorded sessions to ports. Each is cut off; some are changed, and some are sent a byte at a time. */
public final class HostileSessions implements AutoCloseable {
    private static final int AT_ONCE = 4;
    private static final int MOST_BYTES = 4096;
    private static final int SLOWEST_BYTES = 40;

    private final List<byte[]> sessions;
    private final int[] ports;
    private final AtomicInteger said = new AtomicInteger();
    private final ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE, task -> {
        Thread thread = new Thread(task, "test-hostile");
        thread.setDaemon(true);
        return thread;
    });

    public HostileSessions(List<byte[]> sessions, int[] ports) {
        this.sessions = List.copyOf(sessions);
        this.ports = ports.clone();
    }

    /** Has a proxy write down what passes; the list fills as connections are made, one entry for each. */
    public static List<byte[]> recording(TcpProxy proxy) {
        List<byte[]> all = Collections.synchronizedList(new ArrayList<>());
        proxy.onData(recorder(all));
        proxy.onControl(recorder(all));
        return all;
    }

    private static TcpProxy.Fault recorder(List<byte[]> all) {
        return (from, bytes, length) -> {
            if (from == 0) {
                ByteArrayOutputStream whole = new ByteArrayOutputStream();
                whole.write(bytes, 0, length);
                all.add(whole.toByteArray());
            } else {
                synchronized (all) {
                    // pieces of one kind come in order; which session a piece belongs to does not matter here
                    byte[] last = all.remove(all.size() - 1);
                    byte[] longer = Arrays.copyOf(last, Math.min(MOST_BYTES, last.length + length));
                    System.arraycopy(bytes, 0, longer, last.length, longer.length - last.length);
                    all.add(longer);
                }
            }
            return true;
        };
    }

    /** Returns the sessions, and one of each that says it is for a store. */
    public static List<byte[]> withStore(List<byte[]> heard) {
        List<byte[]> all = new ArrayList<>(heard);
        for (byte[] one : heard) {
            byte[] store = one.clone();
            store[Hello.PREFIX_BYTES + 1] = (byte) (Hello.ConnectionKind.STORE.ordinal() + 1);
            all.add(store);
        }
        return all;
    }

    /** Returns how many sessions were said. */
    public int count() {
        return said.get();
    }

    /** Says so many, some at once; returns when all have ended. */
    public void run(int count) {
        List<Future<?>> all = new ArrayList<>();
        int first = said.get();
        for (int thread = 0; thread < AT_ONCE; thread++) {
            int own = thread;
            all.add(threads.submit(() -> {
                for (int number = first + own; number < first + count; number += AT_ONCE) {
                    say(new Random(number));
                    said.incrementAndGet();
                }
                return null;
            }));
        }
        for (Future<?> one : all) {
            try {
                one.get();
            } catch (InterruptedException | ExecutionException failure) {
                throw new AssertionError("a hostile session could not be said", failure);
            }
        }
    }

    private void say(Random random) throws IOException {
        byte[] whole = sessions.get(random.nextInt(sessions.size()));
        boolean slow = random.nextInt(50) == 0;
        byte[] bytes = Arrays.copyOf(whole, random.nextInt(slow ? SLOWEST_BYTES : whole.length + 1));
        for (int change = random.nextInt(3); change > 0 && bytes.length > 0; change--) {
            // what is behind the first hundred bytes is judged only where those are right
            bytes[random.nextInt(random.nextBoolean() ? bytes.length : Math.min(bytes.length, 120))] ^=
                    (byte) (1 << random.nextInt(8));
        }
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), ports[random.nextInt(ports.length)])) {
            socket.setTcpNoDelay(true);
            int piece = slow ? 1 : Math.max(1, bytes.length);
            for (int at = 0; at < bytes.length; at += piece) {
                socket.getOutputStream().write(bytes, at, Math.min(piece, bytes.length - at));
                if (slow) {
                    LockSupport.parkNanos(2_000_000);
                }
            }
            if (random.nextBoolean()) {
                socket.setSoTimeout(20);
                read(socket);
            }
            // half of them end by a reset
            socket.setSoLinger(random.nextBoolean(), 0);
        } catch (java.net.SocketException refused) {
            // the rank has refused the session
            return;
        }
    }

    private static void read(Socket socket) throws IOException {
        try {
            socket.getInputStream().read(new byte[512]);
        } catch (java.net.SocketTimeoutException silent) {
            return;
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
