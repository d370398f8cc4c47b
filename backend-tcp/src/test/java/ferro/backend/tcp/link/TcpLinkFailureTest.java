package ferro.backend.tcp.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.backend.tcp.net.Memory;
import ferro.spi.CallHeader;
import io.netty.channel.Channel;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a link does when its peer goes, or makes another call. */
class TcpLinkFailureTest {
    private static final CallHeader CALL = CallHeader.of(7, 17, 0x1234, "all-reduce of 4");
    private static final CallHeader OTHER = CallHeader.of(7, 17, 0x4321, "all-reduce of 5");
    private static final CallHeader LATER = CallHeader.of(7, 19, 0x1234, "all-reduce of 4");

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void aDifferentFingerprintIsReportedOnceAndItsDataIsDropped(String io) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            HostTensor untouched = Memory.ARRAY.filled(4, 100);
            pair.first().link.send(OTHER, Memory.ARRAY.filled(5, 3), 0, 5);
            pair.second().link.receive(CALL, untouched, 0, 4);
            pair.driveUntil(() -> !pair.second().found.isEmpty());
            pair.second().link.receive(CALL, untouched, 0, 4);
            pair.driveUntilStill();

            assertEquals(1, pair.second().found.size());
            assertEquals(CALL, pair.second().expected.get(0));
            assertEquals(OTHER.sequence(), pair.second().found.get(0).sequence());
            assertEquals(OTHER.fingerprint(), pair.second().found.get(0).fingerprint());
            assertEquals(0, pair.second().link.received());
            for (int i = 0; i < 4; i++) {
                assertEquals(Memory.value(i, 100), Memory.at(untouched, i), "element " + i);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void bothSidesOfAnExchangeDetectADifferentSequence(String io) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            HostTensor data = Memory.DIRECT.filled(9, 3);
            pair.first().link.send(CALL, data, 0, 9);
            pair.first().link.receive(CALL, Memory.ARRAY.floats(9), 0, 9);
            pair.second().link.send(LATER, data, 0, 9);
            pair.second().link.receive(LATER, Memory.ARRAY.floats(9), 0, 9);
            pair.driveUntil(
                    () -> !pair.first().found.isEmpty() && !pair.second().found.isEmpty());

            assertEquals(LATER.sequence(), pair.first().found.get(0).sequence());
            assertEquals(CALL.sequence(), pair.second().found.get(0).sequence());
            assertEquals(LATER, pair.second().expected.get(0));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void theNextConnectionIsOfAHigherEpochThanTheLastOneThatCame(String io) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            Channel[] ends = TcpPair.connected(TcpPair.io(io));
            pair.second().link.connect(pair.second().links.adopt(ends[0]), 3);
            // it ends before the sides have compared their numbers of bytes
            pair.first().links.adopt(ends[1]).close();
            pair.second().link.receive(CALL, Memory.ARRAY.floats(4), 0, 4);
            pair.first().link.close();
            pair.driveUntil(() -> !pair.second().broken.isEmpty());

            assertEquals(List.of(4), pair.second().asked);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void aMessageThatEndsEarlyFailsWithTheNumberOfReceivedBytes(String io) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            HostTensor into = Memory.ARRAY.floats(256);
            pair.second().link.receive(CALL, into, 0, 256);
            pair.first().link.send(CALL, Memory.ARRAY.filled(128, 3), 0, 128);
            pair.driveUntil(() -> pair.first().link.sent() == 1);
            pair.first().link.close();
            pair.driveUntil(() -> !pair.second().broken.isEmpty());
            pair.driveUntilStill();

            assertEquals(1, pair.second().broken.size());
            FerroException failure = pair.second().broken.get(0);
            assertEquals(FerroException.Code.PEER_LOST, failure.code());
            assertTrue(failure.getMessage().contains("512 of 1024 bytes received"), failure.getMessage());
            assertEquals(Memory.value(127, 3), Memory.at(into, 127));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void dataBeforeTheEndIsDeliveredBeforeTheFailure(String io) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            int count = 100_000;
            pair.first().link.send(CALL, Memory.ARRAY.filled(count, 3), 0, count);
            pair.driveUntil(() -> pair.first().link.sent() == 1);
            pair.first().link.close();
            pair.driveUntilStill();
            assertTrue(pair.second().broken.isEmpty(), pair.toString());

            HostTensor into = Memory.DIRECT.floats(count);
            pair.second().link.receive(CALL, into, 0, count / 2);
            pair.second().link.receive(CALL, into, count / 2, count - count / 2);
            pair.driveUntil(() -> pair.second().link.received() == 2);
            assertEquals(Memory.value(count - 1, 3), Memory.at(into, count - 1));
            assertTrue(pair.second().broken.isEmpty(), pair.toString());

            pair.second().link.receive(CALL, into, 0, 1);
            pair.driveUntil(() -> !pair.second().broken.isEmpty());
            assertTrue(
                    pair.second().broken.get(0).getMessage().contains("0 of 4 bytes received"),
                    pair.second().toString());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void aSendToAPeerThatIsGoneBreaksTheLink(String io) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            pair.second().link.close();
            int count = 16 << 20;
            pair.first().link.send(CALL, Memory.DIRECT.floats(count), 0, count);
            pair.driveUntil(() -> !pair.first().broken.isEmpty());

            assertEquals(0, pair.first().link.sent());
            assertTrue(
                    pair.first().broken.get(0).getMessage().contains("1 sends unfinished"),
                    pair.first().toString());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void aConnectionThatCannotBeMadeBreaksTheLinkAtItsFirstPost(String io) throws Exception {
        try (TcpPair.Side alone = new TcpPair.Side(TcpPair.io(io))) {
            alone.link.fail(alone.ended(1, "refused", null));
            alone.links.poll();
            assertTrue(alone.broken.isEmpty(), alone.toString());
            alone.link.receive(CALL, Memory.ARRAY.floats(2), 0, 2);
            alone.links.poll();
            assertEquals("refused", alone.broken.get(0).getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void closingFreesPostedMemoryAtOnce(String io) throws Exception {
        for (Memory memory : Memory.values()) {
            closingFrees(io, memory);
        }
    }

    private static void closingFrees(String io, Memory memory) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            int count = 4 << 20;
            HostTensor data = memory.floats(count);
            for (int i = 0; i < count; i++) {
                Memory.put(data, i, 7);
            }
            HostTensor into = Memory.ARRAY.floats(count);
            pair.first().link.send(CALL, data, 0, count);
            pair.first().link.receive(CALL, data, 0, count);
            pair.driveUntilStill();
            pair.first().link.close();
            for (int i = 0; i < count; i++) {
                Memory.put(data, i, 9);
            }
            pair.second().link.send(CALL, into, 0, count);
            pair.second().link.receive(CALL, into, 0, count);
            pair.first().link.send(CALL, data, 0, count);
            pair.driveUntil(() -> !pair.second().broken.isEmpty());

            for (int i = 0; i < count; i++) {
                float found = Memory.at(into, i);
                if (found != 7 && found != 0 || Memory.at(data, i) != 9) {
                    fail("element " + i + " is " + found + " and " + Memory.at(data, i));
                }
            }
        }
    }
}
