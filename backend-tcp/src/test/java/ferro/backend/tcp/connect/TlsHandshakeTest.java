package ferro.backend.tcp.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.backend.tcp.tls.TlsPair;
import ferro.backend.tcp.tls.TlsProvider;
import ferro.backend.tcp.tls.TlsSession;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;

class TlsHandshakeTest {
    @Test
    void aConnectionThatIsClosedAtOnceFreesTheEngineOfItsEncryption() throws IOException {
        String missing = TlsProvider.missingOpenSsl();
        assumeTrue(missing == null, missing);
        TlsSession session = TlsPair.of(TlsProvider.OPENSSL).shaken().connecting();
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.attr(TlsHandshake.SESSION).set(session);
        ByteBuffer bytes = ByteBuffer.allocateDirect(8);
        assertEquals(8, session.seal(bytes, 0, 8));

        TlsHandshake.closeAtOnce(channel);

        assertFalse(channel.isOpen());
        // an engine that was freed is closed for good
        assertThrows(SSLException.class, () -> session.seal(bytes, 0, 8));
    }

    @Test
    void aPlainConnectionIsClosedAtOnceToo() {
        EmbeddedChannel channel = new EmbeddedChannel();

        TlsHandshake.closeAtOnce(channel);

        assertFalse(channel.isOpen());
    }
}
