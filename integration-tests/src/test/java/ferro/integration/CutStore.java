package ferro.integration;

import ferro.harness.OnThread;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Stands between ranks and a store. It passes on what both send until a rank asks for a key, and nothing of that rank then. */
final class CutStore implements AutoCloseable {
    private static final int BUFFER_BYTES = 1 << 16;

    private final ServerSocket listening = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    private final int store;
    private final String key;

    CutStore(int store, String key) throws IOException {
        this.store = store;
        this.key = key;
        OnThread.run(this::accept);
    }

    int port() {
        return listening.getLocalPort();
    }

    /** Ends, as each copy does, when the test or the end of a process closes a socket. */
    private void accept() throws IOException {
        while (true) {
            Socket rank = listening.accept();
            Socket server = new Socket(InetAddress.getLoopbackAddress(), store);
            open.addAll(List.of(rank, server));
            OnThread.run(() -> copy(rank.getInputStream(), server.getOutputStream()));
            OnThread.run(() -> copy(server.getInputStream(), rank.getOutputStream()));
        }
    }

    /** Copies until the key has passed by; the rank then waits for the answer to a request that is lost. */
    private void copy(InputStream from, OutputStream to) throws IOException {
        byte[] bytes = new byte[BUFFER_BYTES];
        for (int count = from.read(bytes); count >= 0; count = from.read(bytes)) {
            if (new String(bytes, 0, count, StandardCharsets.ISO_8859_1).contains(key)) {
                return;
            }
            to.write(bytes, 0, count);
            to.flush();
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
        for (Socket one : open) {
            one.close();
        }
    }
}
