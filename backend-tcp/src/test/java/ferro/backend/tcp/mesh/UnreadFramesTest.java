package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A member sends many control frames for groups that nobody knows, and ends while most of the last ones are unread. */
@Timeout(60)
class UnreadFramesTest {
    private static final byte[] SECRET = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final long KNOWN = 42;
    private static final int FRAMES = 30_000;
    private static final int FRAME_BYTES = 4 << 10;
    /** Frames at once: two batches are less than what may wait for a peer. */
    private static final int BATCH = 1_500;

    @ParameterizedTest
    @ValueSource(strings = {"auto", "nio"})
    void unreadFramesAtTheEndOfAConnectionCauseNoException(String io, @TempDir Path folder) throws Exception {
        Listener listener = new Listener();
        Path secret = Files.write(folder.resolve("secret"), SECRET);
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        Map<String, String> encrypted =
                Map.of("ferro.tls", "on", "ferro.tcp.io", io, "FERRO_SECRET_FILE", secret.toString());
        try (Ranks ranks = new Ranks(SECRET)) {
            CompletableFuture<TcpMesh> first = ranks.join(0, 2, Ranks.LONG, encrypted);
            TcpMesh member = Ranks.result(ranks.join(1, 2, Ranks.LONG, encrypted));
            Ranks.result(first).register(KNOWN, listener.inMesh());

            for (int sent = 0; sent < FRAMES; sent += BATCH) {
                member.control(0, KNOWN, ByteBuffer.allocate(1));
                for (int frame = 0; frame < BATCH; frame++) {
                    member.control(0, KNOWN + 1 + (sent + frame) % 1_000, ByteBuffer.allocate(FRAME_BYTES));
                }
                boolean isLast = sent + BATCH >= FRAMES;
                assertTrue(listener.marks.tryAcquire(30, TimeUnit.SECONDS), "the batch has not come");
                if (isLast) {
                    break;
                }
                listener.goOn.release();
            }
            // the reader is in its listener, the sockets are full, and more waits for them
            member.drop();
            listener.goOn.release();

            FerroException lost = listener.lost.get(30, TimeUnit.SECONDS);
            assertEquals(Code.PEER_LOST, lost.code(), lost.getMessage());
            assertEquals(Set.of(1), lost.where().culprits());
            assertTrue(lost.getMessage().contains("rank 1 of \"g\""), lost.getMessage());
            assertTrue(lost.getMessage().contains("without a goodbye"), lost.getMessage());
        }
    }

    /** Stays in each message of the known group until it may go on. */
    private static final class Listener implements Ranks.Hears {
        private final Semaphore marks = new Semaphore(0);
        private final Semaphore goOn = new Semaphore(0);
        private final CompletableFuture<FerroException> lost = new CompletableFuture<>();

        @Override
        public void control(int peer, ByteBuffer message) {
            marks.release();
            goOn.acquireUninterruptibly();
        }

        @Override
        public void lost(int peer, FerroException cause) {
            lost.complete(cause);
        }

        @Override
        public void noData(int peer, ConnectionPurpose lane, FerroException cause) {
            lost.complete(cause);
        }
    }
}
