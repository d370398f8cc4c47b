package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.net.TlsProvider.TlsEngineFactory;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Two sides of a connection without a socket: records are moved by hand. */
public final class TlsPair {
    /** What the engines of the JDK are given and no other. */
    public static final String CIPHER = TlsEngineFactory.CIPHER;

    final TlsSession connecting;
    final TlsSession accepting;

    TlsPair(TlsSession connecting, TlsSession accepting) {
        this.connecting = connecting;
        this.accepting = accepting;
    }

    /** Returns a pair of fresh processes that know each other's keys, and use the engines of the JDK. */
    public static TlsPair fresh() {
        return of(TlsProvider.JDK);
    }

    /** Returns a pair of fresh processes that know each other's keys. */
    public static TlsPair of(TlsProvider provider) {
        return of(TlsIdentity.fresh("ferro://job/rank/0", provider), TlsIdentity.fresh("ferro://job/rank/1", provider));
    }

    /** Returns a new connection between two processes. */
    static TlsPair of(TlsIdentity one, TlsIdentity other) {
        return new TlsPair(one.session(true, other.fingerprint(), true), other.session(false, one.fingerprint(), true));
    }

    /** Runs a program with only the class path entries of some classes; returns what it has printed. It must succeed. */
    static String printedBy(Class<?> program, Path folder, List<String> options, Class<?>... ofItsPath)
            throws Exception {
        List<String> path = new ArrayList<>();
        for (Class<?> each : ofItsPath) {
            URI place = each.getProtectionDomain().getCodeSource().getLocation().toURI();
            path.add(Path.of(place).toString());
        }
        List<String> line = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java"));
        line.addAll(options);
        line.addAll(List.of("-cp", String.join(File.pathSeparator, path), program.getName()));
        Path output = folder.resolve("output");
        Process child = new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertTrue(child.waitFor(60, TimeUnit.SECONDS), "the child has not ended");
        String printed = Files.readString(output);
        assertEquals(0, child.exitValue(), printed);
        return printed;
    }

    /** Returns the side that speaks first. */
    public TlsSession connecting() {
        return connecting;
    }

    /** Returns the other side. */
    public TlsSession accepting() {
        return accepting;
    }

    /** Shakes hands until both sides are done; fails as the first side that fails. */
    public TlsPair shaken() throws IOException {
        while (!connecting.isOver() || !accepting.isOver()) {
            int before = connecting.waiting() + accepting.waiting();
            connecting.shake();
            int moved = move(connecting, accepting);
            accepting.shake();
            moved += move(accepting, connecting);
            if (before + moved == 0) {
                throw new IOException("nothing moves any more: " + connecting.isOver() + ", " + accepting.isOver());
            }
        }
        return this;
    }

    /** Moves the records that wait on one side as far as the other has room; returns how many bytes. */
    public static int move(TlsSession from, TlsSession to) {
        int all = 0;
        while (from.waiting() > 0) {
            int count = Math.min(from.waiting(), to.room());
            if (count == 0) {
                break;
            }
            to.incoming().put(to.incomingAt(), from.outgoing(), from.outgoingAt(), count);
            from.written(count);
            to.came(count);
            all += count;
        }
        return all;
    }

    /** Sends bytes from one side to the other and returns what comes out there. */
    static byte[] carried(TlsSession from, TlsSession to, byte[] bytes) throws IOException {
        ByteBuffer source = ByteBuffer.wrap(bytes);
        ByteBuffer result = ByteBuffer.allocate(bytes.length);
        int sealed = 0;
        int came = 0;
        while (came < bytes.length) {
            if (from.waiting() == 0 && sealed < bytes.length) {
                sealed += from.seal(source, sealed, bytes.length);
            }
            int moved = move(from, to);
            int count = to.open(result, came, bytes.length);
            came += count;
            if (moved + count == 0) {
                throw new IOException("only " + came + " of " + bytes.length + " bytes came");
            }
        }
        return result.array();
    }
}
