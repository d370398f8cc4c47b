package ferro.backend.tcp.net;

import ferro.backend.tcp.net.AcceptingHandshake.TlsChallenge;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands between a rank and those that connect to it without the secret: passes their proofs on, which are right, and then
 * speaks TLS with each side by a key of its own.
 *
 * <p>It listens at {@link TcpProxy#HOST}, the rank behind it at the same port of 127.0.0.1, as a {@link TcpProxy} does.
 */
public final class KeyRelay implements AutoCloseable {
    private static final int HEAD_BYTES = 3;

    private final TlsIdentity own = TlsIdentity.fresh("ferro://relay", TlsProvider.JDK);
    private final ServerSocket server = new ServerSocket();
    private final AtomicInteger relayed = new AtomicInteger();
    private final AtomicInteger let = new AtomicInteger();

    public KeyRelay() throws IOException {
        server.bind(new InetSocketAddress(InetAddress.getByName(TcpProxy.HOST), Sockets.freePort()));
        TcpProxy.start("relay-accept", this::accept);
    }

    /** What the rank behind needs. */
    public Map<String, String> settings() {
        return TcpProxy.settings(server);
    }

    /** Returns how many connections were proved on both sides through this relay, and went on to TLS. */
    public int relayed() {
        return relayed.get();
    }

    /** Returns how often a side has finished TLS with the relay as if it were the other side. */
    public int letIn() {
        return let.get();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket from = server.accept();
                Socket to = new Socket("127.0.0.1", server.getLocalPort());
                TcpProxy.start("relay-proofs", () -> relay(from, to));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void relay(Socket from, Socket to) {
        try {
            DataInputStream dialled = new DataInputStream(from.getInputStream());
            byte[] prefix = passed(dialled, to, Hello.PREFIX_BYTES);
            byte[] rest = passed(dialled, to, Hello.following(ByteBuffer.wrap(prefix)));
            DataInputStream accepted = new DataInputStream(to.getInputStream());
            passed(accepted, from, HEAD_BYTES);
            byte[] challenge = passed(accepted, from, TlsChallenge.BYTES);
            passed(dialled, to, HEAD_BYTES + Secret.PROOF_BYTES);
            passed(accepted, from, HEAD_BYTES + Secret.PROOF_BYTES);
            relayed.incrementAndGet();
            byte[] dialler = Hello.decoded(ByteBuffer.wrap(rest)).options().key();
            byte[] acceptor = TlsChallenge.decoded(challenge).key();
            TcpProxy.start("relay-dialler", () -> shake(from, own.session(false, dialler, true)));
            TcpProxy.start("relay-acceptor", () -> shake(to, own.session(true, acceptor, true)));
        } catch (IOException | Refusal over) {
            close(from);
            close(to);
        }
    }

    private static byte[] passed(DataInputStream from, Socket to, int count) throws IOException {
        byte[] bytes = new byte[count];
        from.readFully(bytes);
        to.getOutputStream().write(bytes);
        return bytes;
    }

    /** Shakes hands as the side that is not there; the last word is the byte by which the accepting side lets in. */
    private void shake(Socket with, TlsSession session) {
        try (with) {
            DataInputStream in = new DataInputStream(with.getInputStream());
            ByteBuffer letIn = ByteBuffer.allocate(1);
            boolean over = false;
            while (!over) {
                over = session.shake() && (!session.isConnecting() || session.open(letIn, 0, 1) > 0);
                with.getOutputStream().write(session.outgoing().array(), session.outgoingAt(), session.waiting());
                session.written(session.waiting());
                if (!over) {
                    session.room();
                    int count = session.lacking();
                    in.readFully(session.incoming().array(), session.incomingAt(), count);
                    session.came(count);
                }
            }
            let.incrementAndGet();
        } catch (IOException refused) {
            // that is what the sides are to do
        }
    }

    private static void close(Socket one) {
        try {
            one.close();
        } catch (IOException gone) {
            // it is over
        }
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
