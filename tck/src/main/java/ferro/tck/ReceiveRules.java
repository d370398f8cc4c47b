package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.MessageStatus;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.cells.ElementAccess;
import ferro.tck.cells.Operand;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Rules 214 to 216, 220 and 221 are about the element types and lengths of the messages that a receive takes. Rule 232
 * is about sends that wait for their receive. Rule 233 is about a rank that sends and receives at the same time.
 */
interface ReceiveRules extends TestedBackend {
    /**
     * Checks that a message and a receive of different types do not match, even with the same number of bytes. The
     * failure of each rank names both types. The memory of the receive stays unchanged.
     *
     * @param received type of the receive, with the same number of bytes
     * @param length   number of elements, either a few elements or more than are sent eagerly
     */
    @Rule(
            value = 214,
            needs = {MISMATCHES, ABORT_ACROSS_RANKS, ASYNCHRONOUS_MESSAGES})
    @ParameterizedTest(name = "{0} as {1}, {2} elements")
    @CsvSource({
        "INT32, FLOAT32, 10",
        "FLOAT32, INT32, 40000",
        "FLOAT16, BFLOAT16, 10",
        "BFLOAT16, FLOAT16, 40000",
        "UINT32, INT32, 10",
        "INT32, UINT32, 40000",
        "INT64, FLOAT64, 40000"
    })
    default void aMessageOfAnotherTypeIsAMismatchOnBothSides(DataType sent, DataType received, int length) {
        for (int worldSize = 2; worldSize <= 3; worldSize++) {
            for (boolean receiveFirst : new boolean[] {true, false}) {
                mismatch(worldSize, operand(sent, length), operand(received, length), receiveFirst);
            }
        }
        try (Ranks ranks = group(1)) {
            Operand data = operand(sent, length);
            Operand into = operand(received, length);
            List<Throwable> ends = ranks.outcomes(Ranks.LIMIT, group -> {
                Work receive = group.recvAsync(into.tensor(), 0, 0);
                Work send = group.sendAsync(data.tensor(), 0, 0);
                bothTypes(RuleChecks.fails(each -> receive.await(), group, Code.MISMATCH), data, into);
                bothTypes(RuleChecks.fails(each -> send.await(), group, Code.MISMATCH), data, into);
            });
            RuleChecks.well(ends);
            unwritten(into);
        }
    }

    private void mismatch(int worldSize, Operand data, Operand into, boolean receiveFirst) {
        CountDownLatch first = new CountDownLatch(1);
        List<Throwable> ends = outcomes(worldSize, group -> {
            ProcessGroup patient = group.within(Duration.ofSeconds(20));
            boolean receives = group.rank() == 1;
            if (group.rank() > 1) {
                return;
            }
            if (receives != receiveFirst) {
                first.await(10, TimeUnit.SECONDS);
            }
            Work own = receives ? patient.recvAsync(into.tensor(), 0, 0) : patient.sendAsync(data.tensor(), 1, 0);
            first.countDown();
            // the send may succeed; the next call of the sender then fails
            FerroException failure = RuleChecks.fails(
                    each -> {
                        own.await();
                        patient.barrier();
                    },
                    group,
                    Code.MISMATCH);
            bothTypes(failure, data, into);
        });
        RuleChecks.well(ends);
        unwritten(into);
    }

    private static void bothTypes(FerroException failure, Operand data, Operand into) {
        RuleChecks.says(failure, text(data), text(into));
    }

    private static String text(Operand operand) {
        return operand.tensor().dataType().label() + "[" + operand.length() + "]";
    }

    private static Operand operand(DataType type, int length) {
        return Operand.unwritten(type, length, Operand.OperandMemory.ARRAY);
    }

    private static void unwritten(Operand into) {
        assertTrue(into.isUnwritten(), "a refused receive has written elements");
    }

    /** Checks that the close of a rank reports the mismatch of a small message that was its last call. */
    @Rule(
            value = 215,
            needs = {MISMATCHES, ABORT_ACROSS_RANKS, ASYNCHRONOUS_MESSAGES, EARLY_LEAVES})
    @ParameterizedTest(name = "{0}")
    @EnumSource(
            value = DataType.class,
            names = {"FLOAT32", "UINT32"})
    default void aSenderWithoutALaterCallGetsTheMismatchFromItsClose(DataType sent) {
        Operand data = operand(sent, 10);
        Operand into = operand(DataType.INT32, 10);
        // in some turns the sender learns of the mismatch while its connections close
        for (int turn = 0; turn < 30; turn++) {
            int worldSize = 2 + turn % 3;
            CountDownLatch closing = new CountDownLatch(1);
            List<Throwable> ends = outcomes(worldSize, group -> {
                if (group.rank() == 0) {
                    group.send(data.tensor(), 1, 0);
                    closing.countDown();
                    Ranks.RankCode close = ProcessGroup::close;
                    RuleChecks.inTime(
                            3000,
                            "a close that reported a mismatch",
                            () -> bothTypes(RuleChecks.fails(close, group, Code.MISMATCH), data, into));
                } else if (group.rank() == 1) {
                    closing.await(10, TimeUnit.SECONDS);
                    Ranks.RankCode receive = each -> each.recv(into.tensor(), 0, 0);
                    bothTypes(RuleChecks.fails(receive, group, Code.MISMATCH), data, into);
                }
            });
            RuleChecks.well(ends);
        }
    }

    /**
     * Checks that messages of bytes match every type. Bytes may be received as any type, and any type may be received
     * as bytes.
     *
     * @param type   element type that is exchanged with bytes
     * @param length number of elements of this type, either a few elements or more than are sent eagerly
     */
    @Rule(216)
    @ParameterizedTest(name = "{0}, {1} elements")
    @CsvSource({"FLOAT32, 9", "INT64, 20000", "FLOAT16, 50000", "UINT32, 3", "BFLOAT16, 4"})
    default void bytesMatchAnyTypeOfTheSameLength(DataType type, int length) {
        eachRank(2, group -> {
            for (DataType bytes : List.of(DataType.INT8, DataType.UINT8)) {
                Operand typed = operand(type, length);
                Operand plain = operand(bytes, length * type.byteSize());
                exchange(group, typed, plain);
                exchange(group, plain, typed);
            }
            exchangeBuffer(group, operand(type, length));
        });
    }

    private static void exchange(ProcessGroup group, Operand data, Operand into) {
        data.fill(index -> index % 53 + 2);
        if (group.rank() == 0) {
            group.send(data.tensor(), 1, 0);
        } else {
            group.recv(into.tensor(), 0, 0);
            sameBytes(data.tensor(), into.tensor());
        }
    }

    /** Sends a byte buffer that is received as a tensor, and a tensor that is received as a byte buffer. */
    private static void exchangeBuffer(ProcessGroup group, Operand data) {
        data.fill(index -> index % 53 + 2);
        ByteBuffer bytes = ElementAccess.bytes(data.tensor());
        Duration timeout = Duration.ofSeconds(20);
        if (group.rank() == 0) {
            group.backend().send(bytes, 1, 0, timeout);
            group.send(data.tensor(), 1, 0);
        } else {
            Operand into = operand(data.tensor().dataType(), data.length());
            group.recv(into.tensor(), 0, 0);
            sameBytes(data.tensor(), into.tensor());
            ByteBuffer plain = ByteBuffer.allocate(bytes.remaining());
            group.backend().recv(plain, 0, 0, timeout);
            plain.rewind();
            assertEquals(bytes, plain, "bytes of " + data.tensor());
        }
    }

    private static void sameBytes(HostTensor sent, HostTensor received) {
        assertEquals(
                ElementAccess.bytes(sent),
                ElementAccess.bytes(received),
                "bytes of " + sent + " received as " + received);
    }

    /**
     * Checks that a receive up to a length takes shorter messages. The status has the sender, the tag and the length of
     * the message. Only the first elements of the tensor are written. The rule also covers a message of bytes, and a
     * message of a rank to itself.
     */
    @Rule(
            value = 220,
            needs = {ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES})
    @ParameterizedTest(name = "{0} elements")
    @ValueSource(ints = {0, 1, 9, 10_000, 50_000})
    default void aReceiveUpToALengthTakesShorterMessages(int length) {
        for (DataType sent : List.of(DataType.INT32, DataType.INT8)) {
            int sentLength = sent == DataType.INT8 ? 4 * length : length;
            for (boolean isExpected : new boolean[] {true, false}) {
                eachRank(2, group -> {
                    Operand data = operand(sent, sentLength);
                    data.fill(index -> index % 53 + 2);
                    shorter(group, data, group.rank() == 0 ? 1 : 0, isExpected);
                    shorter(group, data, group.rank(), isExpected);
                });
            }
        }
    }

    /** Sends a message to a peer and receives a message from the peer, into a tensor that has 7 more elements. */
    private static void shorter(ProcessGroup group, Operand data, int peer, boolean isExpected) {
        int length = (int) (data.tensor().byteCount() / Integer.BYTES);
        int[] buffer = RuleChecks.filled(length + 7, -4);
        Work receive = isExpected ? group.recvUpToAsync(HostTensor.of(buffer), peer, 3) : null;
        group.barrier();
        Work send = group.sendAsync(data.tensor(), peer, 3);
        group.barrier();
        MessageStatus status;
        if (isExpected) {
            receive.await();
            status = receive.status().orElseThrow();
        } else {
            status = group.recvUpTo(HostTensor.of(buffer), peer, 3);
        }
        send.await();

        DataType sent = data.tensor().dataType();
        assertEquals(MessageStatus.of(peer, 3, sent, data.tensor().byteCount()), status, "status of the receive");
        assertEquals(data.length(), status.elements(), "elements of the message");
        int[] received = Arrays.copyOf(buffer, length);
        assertEquals(
                ElementAccess.bytes(data.tensor()),
                ElementAccess.bytes(HostTensor.of(received)),
                "elements of the message");
        assertArrayEquals(
                RuleChecks.filled(7, -4),
                Arrays.copyOfRange(buffer, length, length + 7),
                "elements behind the message");
    }

    /**
     * Checks that a message fails the group if the message is longer than a receive up to a length. A message whose
     * bytes do not make complete elements also fails the group. The failure has the lengths of message and receive. The
     * memory of the receive stays unchanged.
     *
     * @param length elements of the message; the receive takes up to 10 elements of i32
     */
    @Rule(
            value = 221,
            needs = {MISMATCHES, ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES})
    @ParameterizedTest(name = "{1} elements of {0}")
    @CsvSource({"INT32, 11", "INT32, 50000", "FLOAT32, 3", "INT8, 41", "UINT8, 7"})
    default void aMessageTooLongForItsReceiveIsAMismatch(DataType sent, int length) {
        Operand data = operand(sent, length);
        Operand into = operand(DataType.INT32, 10);
        List<Throwable> ends = outcomes(2, group -> {
            if (group.rank() == 0) {
                group.within(Duration.ofSeconds(2)).send(data.tensor(), 1, 0);
            } else {
                group.within(Duration.ofSeconds(10)).recvUpTo(into.tensor(), 0, 0);
            }
        });
        FerroException failure = RuleChecks.failure(ends, 1, Code.MISMATCH);
        RuleChecks.says(failure, text(data), text(into), data.tensor().byteCount() + " bytes", "40 bytes");
        unwritten(into);
    }

    /**
     * Checks that a send of any length that waits for its receive does not end before a receive has matched the send. A
     * back end without sends that wait for their receive must refuse these sends. A single rank sends to itself.
     */
    @Rule(232)
    @ParameterizedTest(name = "{0} ranks, {1} elements")
    @CsvSource({"1, 0", "1, 5", "2, 0", "2, 5", "2, 40000"})
    default void aSendUntilMatchedEndsAfterItsReceiveMatched(int worldSize, int length) {
        eachRank(worldSize, group -> {
            int receiver = worldSize - 1;
            int[] data = RuleChecks.filled(length, 9);
            if (refuses(OPEN_RECEIVES)) {
                RuleChecks.refused(
                        UnsupportedOperationException.class,
                        () -> group.sendUntilMatched(HostTensor.of(data), receiver, 2),
                        "receive");
                return;
            }
            int[] turn = new int[1];
            Work send = null;
            if (group.rank() == 0) {
                send = group.sendUntilMatchedAsync(HostTensor.of(data), receiver, 2);
                group.send(turn, receiver, 3);
            }
            if (group.rank() == receiver) {
                // messages arrive in order, so an ordinary send would have ended now
                group.recv(turn, 0, 3);
                group.send(turn, 0, 4);
            }
            if (group.rank() == 0) {
                group.recv(turn, receiver, 4);
                assertFalse(send.isDone(), "the send has ended before its receive");
                group.send(turn, receiver, 5);
            }
            if (group.rank() == receiver) {
                group.recv(turn, 0, 5);
                int[] received = new int[length];
                group.recv(received, 0, 2);
                assertArrayEquals(data, received, "received message");
            }
            if (group.rank() == 0) {
                send.await();
            }
        });
    }

    /**
     * Checks that ranks that all send and receive in a circle do not wait for each other. One tensor may be used for
     * the sent message and the received message. A wrong rank or tag must be refused. A single rank sends to itself.
     */
    @Rule(233)
    @ParameterizedTest(name = "{0} ranks, {1} elements")
    @CsvSource({"1, 5", "1, 40000", "3, 5", "3, 40000"})
    default void ranksThatSendAndReceiveInACircleDoNotDeadlock(int worldSize, int length) {
        eachRank(worldSize, group -> {
            int next = (group.rank() + 1) % worldSize;
            int previous = (group.rank() + worldSize - 1) % worldSize;
            HostTensor own = HostTensor.of(RuleChecks.filled(length, group.rank() + 5));
            int[] received = new int[length];
            if (refuses(ASYNCHRONOUS_MESSAGES)) {
                RuleChecks.refused(
                        UnsupportedOperationException.class,
                        () -> group.sendReceive(own, next, HostTensor.of(received), previous, 4),
                        "send first");
                return;
            }
            refuseExchanges(group, next, previous, length);
            MessageStatus status = group.sendReceive(own, next, HostTensor.of(received), previous, 4);
            assertEquals(MessageStatus.of(previous, 4, DataType.INT32, 4L * length), status, "status");
            assertArrayEquals(RuleChecks.filled(length, previous + 5), received, "received message");
            group.sendReceiveReplace(HostTensor.of(received), next, previous, 4);
            int second = (previous + worldSize - 1) % worldSize;
            assertArrayEquals(
                    RuleChecks.filled(length, second + 5), received, "message of the rank before the last one");
        });
    }

    /**
     * Checks that an exchange with a wrong rank or tag is refused. The refused exchange must leave no send or receive
     * that disturbs the next exchange.
     */
    private static void refuseExchanges(ProcessGroup group, int next, int previous, int length) {
        int none = group.worldSize();
        HostTensor wrong = HostTensor.of(RuleChecks.filled(length, 99));
        HostTensor received = HostTensor.of(new int[length]);
        Class<IllegalArgumentException> illegal = IllegalArgumentException.class;
        RuleChecks.refused(illegal, () -> group.sendReceive(wrong, none, received, previous, 4), "" + none);
        RuleChecks.refused(illegal, () -> group.sendReceive(wrong, next, received, none, 4), "" + none);
        RuleChecks.refused(illegal, () -> group.sendReceive(wrong, next, received, previous, -1), "-1");
        RuleChecks.refused(illegal, () -> group.sendReceiveReplace(wrong, none, previous, 4), "" + none);
        RuleChecks.refused(illegal, () -> group.sendReceiveReplace(wrong, next, none, 4), "" + none);
    }
}
