package ferro.backend.tcp.net;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/** Writes to a socket what comes, each piece so much later than it came, however many are under way. */
final class LateOutput extends OutputStream {
    private final BlockingQueue<Piece> pieces = new LinkedBlockingQueue<>();
    private final long delayNanos;

    LateOutput(Socket sink, long delayNanos) {
        this.delayNanos = delayNanos;
        Thread writer = new Thread(() -> write(sink), "proxy-late");
        writer.setDaemon(true);
        writer.start();
    }

    private record Piece(long due, byte[] bytes) {}

    @Override
    public void write(int one) {
        write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int count) {
        byte[] copy = new byte[count];
        System.arraycopy(bytes, from, copy, 0, count);
        pieces.add(new Piece(System.nanoTime() + delayNanos, copy));
    }

    private void write(Socket sink) {
        try {
            while (!sink.isClosed()) {
                Piece next = pieces.take();
                for (long left = next.due - System.nanoTime(); left > 0; left = next.due - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                sink.getOutputStream().write(next.bytes);
            }
        } catch (IOException | InterruptedException ended) {
            // the connection is over
        }
    }
}
