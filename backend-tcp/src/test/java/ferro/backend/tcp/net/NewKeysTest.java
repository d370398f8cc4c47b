package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys that change under way: the JDK does it after 2^37 bytes, or where its security properties say so. */
class NewKeysTest {
    private static final int ROUNDS = 20;
    private static final int BYTES = 100_000;

    @Test
    void bytesArriveWhileBothSidesChangeTheirKeysAndAReadCausesAnAnswer(@TempDir Path folder) throws Exception {
        Path security = folder.resolve("java.security");
        Files.writeString(security, "jdk.tls.keyLimits=AES/GCM/NoPadding KeyUpdate 2^16\n");
        List<String> options = List.of("-Djava.security.properties=" + security);
        String said = TlsPair.printedBy(KeyChanges.class, folder, options, TlsSession.class, NewKeysTest.class);

        assertTrue(Integer.parseInt(said.trim()) > ROUNDS, "answers: " + said);
    }

    /** Moves bytes both ways and prints how many reads left a record to be written. */
    static final class KeyChanges {
        private KeyChanges() {}

        public static void main(String[] arguments) throws IOException {
            TlsPair pair = TlsPair.fresh().shaken();
            Random random = new Random(7);
            int answers = 0;
            for (int round = 0; round < ROUNDS; round++) {
                byte[] bytes = new byte[BYTES];
                random.nextBytes(bytes);
                assertSame(bytes, TlsPair.carried(pair.connecting, pair.accepting, bytes));
                answers += pair.accepting.waiting() > 0 ? 1 : 0;
                assertSame(bytes, TlsPair.carried(pair.accepting, pair.connecting, bytes));
                answers += pair.connecting.waiting() > 0 ? 1 : 0;
            }
            System.out.println(answers);
        }

        private static void assertSame(byte[] expected, byte[] found) {
            if (!java.util.Arrays.equals(expected, found)) {
                throw new AssertionError("other bytes came than the " + expected.length + " that were sent");
            }
        }
    }
}
