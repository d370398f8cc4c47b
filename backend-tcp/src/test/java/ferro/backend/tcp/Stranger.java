package ferro.backend.tcp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;

/** A plain socket that says what it likes. */
final class Stranger implements AutoCloseable {
    private final Socket socket;

    private Stranger(Socket socket) {
        this.socket = socket;
    }

    static Stranger at(int port) {
        try {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setSoTimeout(20_000);
            return new Stranger(socket);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    void say(byte... bytes) {
        try {
            socket.getOutputStream().write(bytes);
            socket.getOutputStream().flush();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Reads exactly so many bytes. */
    byte[] hear(int bytes) {
        try {
            return socket.getInputStream().readNBytes(bytes);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Reads to the end; a reset counts as one. */
    byte[] hearAll() {
        try {
            return socket.getInputStream().readAllBytes();
        } catch (SocketException reset) {
            return new byte[0];
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
