package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.FerroException;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsProviderTest {
    @Test
    void onlyClassLoadersThatAreNeverUnloadedArePermanent() throws Exception {
        ClassLoader system = ClassLoader.getSystemClassLoader();
        try (URLClassLoader program = new URLClassLoader(new URL[0], system)) {
            assertFalse(TlsProvider.stays(program, system), "a loader of a program");
            assertTrue(TlsProvider.stays(system, system), "the class path");
            assertTrue(TlsProvider.stays(system, program), "a parent of the class path");
        }
    }

    @Test
    void openSslIsTheFastestProviderIfPresent() {
        String missing = TlsProvider.missingOpenSsl();
        assumeTrue(missing == null, missing);
        assertEquals(TlsProvider.OPENSSL, TlsProvider.fastest());
    }

    @Test
    @DisplayName("a program without Netty's handlers encrypts by the JDK, and is told what OpenSSL needs")
    void aProgramWithoutNettysHandlersEncryptsByTheJdk(@TempDir Path folder) throws Exception {
        String said = TlsPair.printedBy(
                Alone.class, folder, List.of(), FerroException.class, TlsProvider.class, TlsProviderTest.class);

        assertTrue(said.startsWith("the JDK: Netty's OpenSSL engine is not available"), said);
        assertTrue(said.contains("io.netty:netty-tcnative-boringssl-static"), said);
    }

    /** Shakes hands without any library but ferro. */
    static final class Alone {
        private Alone() {}

        public static void main(String[] arguments) throws IOException {
            TlsPair.of(TlsProvider.fastest()).shaken();
            System.out.println(TlsProvider.fastest() + ": " + TlsProvider.missingOpenSsl());
        }
    }
}
