package ferro.backend.tcp.net;

import ferro.backend.tcp.net.Secret.Role;
import java.io.IOException;
import java.io.PushbackInputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;

/** A plain socket that says what it likes. */
public final class Stranger implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 20_000;

    private final Socket socket;
    private final PushbackInputStream heard;

    private Stranger(Socket socket) throws IOException {
        this.socket = socket;
        heard = new PushbackInputStream(socket.getInputStream());
    }

    public static Stranger at(int port) {
        return from("127.0.0.1", port);
    }

    /** Connects from an address of this machine. */
    static Stranger from(String address, int port) {
        return between(address, "127.0.0.1", port);
    }

    /** Connects to an address of this machine. */
    static Stranger to(String address, int port) {
        return between("127.0.0.1", address, port);
    }

    private static Stranger between(String from, String to, int port) {
        try {
            return new Stranger(new Socket(InetAddress.getByName(to), port, InetAddress.getByName(from), 0));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Connects to a store without a secret, and proves itself. */
    public static Stranger letIn(int port, Hello hello) {
        Stranger stranger = at(port);
        byte[] opening = hello.encoded();
        stranger.say(opening);
        byte[] head = stranger.hear(Handshake.HEAD_BYTES);
        byte[] challenge = stranger.hear(head[2]);
        stranger.say(Handshake.frame(Handshake.PROOF, Secret.none().proof(Role.CONNECTING, opening, challenge)));
        stranger.hear(Handshake.HEAD_BYTES + Secret.PROOF_BYTES);
        stranger.say(Handshake.frame(Handshake.CONFIRM, new byte[0]));
        return stranger;
    }

    public void say(byte... bytes) {
        try {
            socket.getOutputStream().write(bytes);
            socket.getOutputStream().flush();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Reads exactly so many bytes. */
    public byte[] hear(int bytes) {
        try {
            socket.setSoTimeout(PATIENCE_MILLIS);
            return heard.readNBytes(bytes);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Reads to the end; a reset counts as one. */
    public byte[] hearAll() {
        try {
            socket.setSoTimeout(PATIENCE_MILLIS);
            return heard.readAllBytes();
        } catch (SocketException reset) {
            return new byte[0];
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Waits up to so long for the other side to say something or to end; returns whether it has. */
    boolean hears(int millis) {
        try {
            socket.setSoTimeout(millis);
            int first = heard.read();
            if (first >= 0) {
                heard.unread(first);
            }
            return true;
        } catch (SocketTimeoutException silent) {
            return false;
        } catch (SocketException reset) {
            return true;
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
