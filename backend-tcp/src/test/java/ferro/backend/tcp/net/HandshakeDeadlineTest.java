package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.FerroException.Code;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The five seconds that a listener gives a connection, on a clock that the test moves. */
class HandshakeDeadlineTest {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final String LATE = "the handshake did not end within 5000 ms";

    @Test
    void aSlowHandshakeIsRefusedAfterFiveSecondsAtAnyByte() {
        for (int atOnce = 0; atOnce < new Member().byteCount(); atOnce++) {
            assertEquals("let in", dripped(atOnce, LIMIT_NANOS - 1), atOnce + " bytes at once");
            assertEquals(LATE, dripped(atOnce, LIMIT_NANOS), atOnce + " bytes at once");
        }
    }

    /** Says so many bytes at once and the others evenly, the last one after so long. */
    private static String dripped(int atOnce, long lastNanos) {
        Member member = new Member();
        long passed = 0;
        int rest = member.byteCount() - atOnce;
        for (int said = 0; said < member.byteCount() && member.isConnected(); said++) {
            long due = said < atOnce ? 0 : lastNanos * (said - atOnce + 1) / rest;
            member.pass(due - passed);
            member.fireTimers();
            passed = due;
            if (member.isConnected()) {
                member.sayNext();
            }
        }
        return member.end();
    }

    @Test
    void aStoppedHandshakeIsRefusedAfterFiveSecondsAtAnyByte() {
        for (int bytes = 0; bytes < new Member().byteCount(); bytes++) {
            Member member = new Member();
            for (int said = 0; said < bytes; said++) {
                member.sayNext();
            }

            member.pass(LIMIT_NANOS - 1);
            member.fireTimers();
            assertEquals("waiting", member.end(), bytes + " bytes");
            member.pass(1);
            member.fireTimers();

            assertEquals(LATE, member.end(), bytes + " bytes");
        }
    }

    /** A loop that was held up reads before it looks at its timers. A side that has given up confirms nothing. */
    @Test
    void aCompleteProofThatIsReadLateIsAccepted() {
        Member member = new Member();
        for (int said = 1; said < member.byteCount(); said++) {
            member.sayNext();
        }
        member.pass(LIMIT_NANOS);

        member.sayNext();

        assertEquals("let in", member.end());
    }

    @Test
    void aHelloMayAskForMoreTimeUpToALimit() {
        assertEquals("the handshake did not end within 5000 ms", endOfAHello(4_000, 5_000));
        assertEquals("the handshake did not end within 10000 ms", endOfAHello(10_000, 10_000));
        assertEquals("the handshake did not end within 40000 ms", endOfAHello(Integer.MAX_VALUE, 40_000));
    }

    /** Sends a hello and nothing else; checks that the handshake ends at that time, not before, and returns how. */
    private static String endOfAHello(int answerLimitMillis, long atMillis) {
        Member member = new Member(answerLimitMillis);
        for (int said = 0; said < member.side.opening().length; said++) {
            member.sayNext();
        }
        for (long millis = 0; millis < atMillis; millis += 1_000) {
            member.fireTimers();
            assertEquals("waiting", member.end(), millis + " ms");
            member.pass(TimeUnit.SECONDS.toNanos(1));
        }
        member.fireTimers();
        return member.end();
    }

    @Test
    void timeInWhichTheLoopWasBlockedDoesNotCount() {
        Member member = new Member();
        long heldUp = TimeUnit.SECONDS.toNanos(6);
        member.pass(LIMIT_NANOS + heldUp);
        member.fireTimers();
        assertEquals("waiting", member.end());

        member.pass(heldUp - 1);
        member.fireTimers();
        assertEquals("waiting", member.end());
        member.pass(1);
        member.fireTimers();

        assertEquals(LATE, member.end());
    }

    @Test
    void aConfirmationHasNoTimeLimit() {
        Member member = new Member();
        member.confirms = false;
        for (int said = 0; said < member.byteCount(); said++) {
            member.sayNext();
        }
        assertEquals("admitted", member.end());

        member.pass(100 * LIMIT_NANOS);
        member.fireTimers();
        assertEquals("admitted", member.end());
        for (int said = 0; said < Handshake.HEAD_BYTES; said++) {
            assertEquals("admitted", member.end());
            member.sayNext();
        }

        assertEquals("let in", member.end());
    }

    /** Connects to a listener as a rank that knows the secret, and says its handshake byte by byte. */
    private static final class Member implements TcpListener.ConnectionReceiver {
        private final Credentials own = new Credentials(
                "default", Secret.of("a secret of the job".getBytes(StandardCharsets.UTF_8)), new SecureRandom());
        private final ConnectingHandshake side;
        private final EmbeddedChannel channel = new EmbeddedChannel();
        private final ByteBuf unsaid = Unpooled.buffer();
        private String end = "waiting";
        /** Whether it confirms the connection as soon as it is let in. */
        private boolean confirms = true;
        /** A channel in memory looks at its timers before it closes: the listener may refuse it twice. */
        private boolean refused;

        Member() {
            this((int) TcpListener.HANDSHAKE_MILLIS);
        }

        Member(int answerLimitMillis) {
            Hello hello = new Hello(
                    Hello.ConnectionKind.STORE,
                    own.job(),
                    new Hello.RankPair(0, 1, 4, -1),
                    Hello.ChannelIdentity.NONE,
                    new Hello.HelloOptions(true, false),
                    new Hello.AttemptId(1, 1, answerLimitMillis, own.nonce()));
            side = new ConnectingHandshake(own, hello);
            channel.config().setAutoRead(false);
            channel.freezeTime();
            new TcpListener(own, this, new UnauthenticatedPeerLog(new KeptLog(), System::nanoTime)).accept(channel);
            unsaid.writeBytes(side.opening());
        }

        /** Returns how many bytes it says before it is let in. */
        int byteCount() {
            return side.opening().length + Handshake.HEAD_BYTES + Secret.PROOF_BYTES;
        }

        boolean isConnected() {
            return channel.isOpen();
        }

        void pass(long nanos) {
            channel.advanceTimeBy(nanos, TimeUnit.NANOSECONDS);
        }

        void fireTimers() {
            channel.runScheduledPendingTasks();
            listen();
        }

        void sayNext() {
            channel.writeInbound(unsaid.readBytes(1));
            listen();
        }

        /** Takes what the listener has said: a challenge, its proof, or a refusal. */
        private void listen() {
            for (ByteBuf heard = channel.readOutbound(); heard != null; heard = channel.readOutbound()) {
                try {
                    while (heard.isReadable() && !refused) {
                        byte[] wanted = new byte[side.wanted()];
                        heard.readBytes(wanted);
                        unsaid.writeBytes(side.take(ByteBuffer.wrap(wanted)));
                    }
                } catch (Refusal refusal) {
                    assertEquals(Code.TIMED_OUT, refusal.code());
                    refused = true;
                    end = refusal.getMessage();
                } finally {
                    heard.release();
                }
            }
            if (confirms && side.wanted() == 0 && unsaid.isReadable()) {
                channel.writeInbound(unsaid.readBytes(unsaid.readableBytes()));
            }
        }

        String end() {
            return end;
        }

        @Override
        public void admit(Hello hello, Channel admitted) {
            end = "admitted";
        }

        @Override
        public void entered(Hello hello, Channel entered) {
            end = "let in";
        }
    }
}
