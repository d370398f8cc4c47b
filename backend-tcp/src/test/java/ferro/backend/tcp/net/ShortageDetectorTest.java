package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.net.TcpListener.PauseHandler;
import io.netty.channel.ChannelException;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.unix.Errors;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Which failures of sockets are a lack of descriptors or memory, and which listener is notified. */
class ShortageDetectorTest {
    private static final int EMFILE = -24;
    private static final int ENFILE = -23;
    private static final int ENOBUFS = -105;
    private static final int ECONNABORTED = -103;

    /** Netty's exceptions of an errno can be made only once its native part is loaded; without it they spoil the class. */
    @BeforeAll
    static void loadNativePart() {
        assertTrue(SocketConfig.standard().epoll(), "epoll cannot be used here");
    }

    private static Optional<String> ofErrno(int errno) {
        return ShortageDetector.of(new Errors.NativeIoException("accept", errno));
    }

    @Test
    void aLackOfResourcesIsNamedByItsErrnoWithTheLimitToRaise() {
        assertEquals(
                "accept(..) failed with error(-24): Too many open files (EMFILE): raise the limit of open files (ulimit -n)",
                ofErrno(EMFILE).orElseThrow());
        assertEquals(
                "accept(..) failed with error(-23): Too many open files in system (ENFILE): raise the limit of open"
                        + " files of all processes (fs.file-max)",
                ofErrno(ENFILE).orElseThrow());
        assertEquals(
                "accept(..) failed with error(-105): No buffer space available (ENOBUFS): the kernel has no memory for"
                        + " a socket",
                ofErrno(ENOBUFS).orElseThrow());
    }

    @Test
    void aLackOfResourcesIsDetectedByTheTextOfTheJdk() {
        assertEquals(
                "Too many open files (EMFILE): raise the limit of open files (ulimit -n)",
                ShortageDetector.of(new IOException("Too many open files")).orElseThrow());
        assertEquals(
                "Zu viele offene Dateien",
                ShortageDetector.of(new ChannelException(
                                "Failed to open a socket.", new SocketException("Zu viele offene Dateien")))
                        .orElseThrow());
        assertEquals(
                "Cannot reserve 9 bytes",
                ShortageDetector.of(new IOException(new OutOfMemoryError("Cannot reserve 9 bytes")))
                        .orElseThrow());
    }

    @Test
    void otherFailuresAreNotALackOfResources() {
        assertEquals(Optional.empty(), ofErrno(ECONNABORTED));
        assertEquals(Optional.empty(), ShortageDetector.of(new ConnectException("Connection refused")));
        assertEquals(Optional.empty(), ShortageDetector.of(null));
    }

    @Test
    void aConnectionThatCannotBeAcceptedIsReportedAtOnceAndPausesAccepting() {
        List<String> told = new ArrayList<>();
        UnauthenticatedPeerLog log = new UnauthenticatedPeerLog(System.getLogger("ferro.tcp"), System::nanoTime);
        EmbeddedChannel server = new EmbeddedChannel(new PauseHandler(log, told::add));
        server.freezeTime();

        server.pipeline().fireExceptionCaught(new Errors.NativeIoException("accept", EMFILE));

        assertEquals(List.of(ofErrno(EMFILE).orElseThrow()), told);
        assertEquals(false, server.config().isAutoRead());
        server.advanceTimeBy(PauseHandler.PAUSE_MILLIS, TimeUnit.MILLISECONDS);
        server.runScheduledPendingTasks();
        assertEquals(true, server.config().isAutoRead());
        server.pipeline().fireExceptionCaught(new Errors.NativeIoException("accept", ECONNABORTED));
        assertEquals(1, told.size());
    }
}
