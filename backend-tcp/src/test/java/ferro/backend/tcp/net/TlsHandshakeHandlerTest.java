package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.FerroException.Code;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;

class TlsHandshakeHandlerTest {
    /** One side of a handshake on a channel in memory; each side refuses as the listener does, and else does nothing. */
    private static final class Side implements HandshakeHandler.HandshakeListener {
        private final Handshake side;
        private final EmbeddedChannel channel = new EmbeddedChannel();
        private Refusal refusal;

        Side(Handshake side) {
            this.side = side;
            channel.config()
                    .setAutoRead(false)
                    .setRecvByteBufAllocator(new SwitchableReadAllocator(ExactReader.nothing()));
            channel.pipeline().addLast(new HandshakeHandler(side, this));
        }

        /** Passes on what this side says, in exactly the pieces that the other wants. */
        void passTo(Side other) {
            for (ByteBuf said = channel.readOutbound(); said != null; said = channel.readOutbound()) {
                while (said.isReadable()) {
                    other.channel.writeInbound(said.readBytes(other.side.wanted()));
                }
                said.release();
            }
        }

        @Override
        public void done(Channel done) {
            throw new AssertionError("nobody is to be let in");
        }

        @Override
        public void refused(Channel refused, Refusal why) {
            refusal = why;
            HandshakeHandler.refuse(refused, why);
        }

        @Override
        public void stranger(Channel stranger, byte[] bytes, int length) {
            throw new AssertionError("both speak ferro");
        }

        @Override
        public void ended(Channel ended, Throwable cause) {}
    }

    @Test
    void aPeerThatIsRefusedAfterItsProofFreesItsEngine() {
        TlsPolicy policy = TlsPolicy.of(TlsPolicy.TlsMode.ON, "job", "rank/1");
        Credentials own = new Credentials("job", Secret.of(new byte[] {1, 2, 3}), new SecureRandom(), policy);
        Hello hello = new Hello(
                Hello.ConnectionKind.DATA,
                own.job(),
                new Hello.RankPair(7, 1, 4, 0),
                Hello.ChannelIdentity.NONE,
                new Hello.HelloOptions(true, false),
                new Hello.AttemptId(1, 1, own.nonce()));
        int before = TlsSession.unfreed();
        int[] most = {before};
        AcceptingHandshake.AdmissionPolicy door = said -> {
            most[0] = TlsSession.unfreed();
            throw new Refusal(Code.PEER_LOST, "nobody is expected");
        };
        Side accepting = new Side(new AcceptingHandshake(own, door, false));
        Side connecting = new Side(new ConnectingHandshake(own, hello, own.tls().identity()));

        connecting.passTo(accepting);
        accepting.passTo(connecting);
        connecting.passTo(accepting);
        accepting.passTo(connecting);
        assertEquals("nobody is expected", connecting.refusal.getMessage());
        connecting.channel.close();
        accepting.channel.close();

        assertEquals(before + 2, most[0]);
        assertEquals(before, TlsSession.unfreed());
    }

    @Test
    void aConnectionThatIsClosedAtOnceFreesItsTlsEngine() throws IOException {
        String missing = TlsProvider.missingOpenSsl();
        assumeTrue(missing == null, missing);
        TlsSession session = TlsPair.of(TlsProvider.OPENSSL).shaken().connecting();
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.attr(TlsHandshakeHandler.SESSION).set(session);
        ByteBuffer bytes = ByteBuffer.allocateDirect(8);
        assertEquals(8, session.seal(bytes, 0, 8));

        TlsHandshakeHandler.closeAtOnce(channel);

        assertFalse(channel.isOpen());
        // an engine that was freed is closed for good
        assertThrows(SSLException.class, () -> session.seal(bytes, 0, 8));
    }

    @Test
    void aPlainConnectionIsClosedAtOnce() {
        EmbeddedChannel channel = new EmbeddedChannel();

        TlsHandshakeHandler.closeAtOnce(channel);

        assertFalse(channel.isOpen());
    }
}
