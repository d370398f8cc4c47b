package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.cells.Operand;
import ferro.tck.cells.ReferenceOracle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Rules 201 to 213 and 219, about messages between two ranks. Messages are matched by peer and tag. Messages are not
 * part of the order of collectives.
 */
interface MessageRules extends TestedBackend {
    /** Checks that messages of every type and length arrive unchanged. */
    @Rule(value = 201, apart = true, ranks = 2)
    default void messagesOfEveryTypeAndLengthArriveUnchanged(ProcessGroup group) {
        // no elements, a few elements, and more elements than are sent eagerly
        int[] lengths = {0, 1, 17, 5000, 70_001};
        try (DeviceOperands device = DeviceOperands.of(this, group.rank())) {
            for (DataType type : DataType.values()) {
                ReferenceOracle values = new ReferenceOracle(type, group.worldSize());
                for (int length : lengths) {
                    Operand data = Operand.unwritten(type, length, Operand.OperandMemory.of(group.rank()));
                    roundTrip(group, values, data, device);
                }
            }
        }
    }

    private void roundTrip(ProcessGroup group, ReferenceOracle values, Operand data, DeviceOperands device) {
        int peer = 1 - group.rank();
        int tag = tagOr0(3);
        String what = data.tensor() + " on rank " + group.rank();
        if (group.rank() == 0) {
            data.fill(index -> values.mark(0, index));
            group.send(device.tensor(data.tensor()), peer, tag);
            device.forget();
            data.fill(index -> 0);
        }
        group.recv(device.tensor(data.tensor()), peer, tag);
        device.readBack();
        long[] need = new long[data.length()];
        Arrays.setAll(need, index -> values.mark(0, index));
        assertArrayEquals(need, data.bits(), what);
        assertTrue(data.guardsHold(), "a receive wrote outside " + what);
        if (group.rank() == 1) {
            group.send(device.tensor(data.tensor()), peer, tag);
            device.forget();
        }
    }

    private int tagOr0(int tag) {
        return refuses(MESSAGE_TAGS) ? 0 : tag;
    }

    /** Checks that messages with the same tag arrive in the order in which they were sent. */
    @Rule(value = 202, ranks = 2)
    default void messagesOfOneTagArriveInTheOrderTheyWereSent(ProcessGroup group) {
        for (int number = 1; number <= 50; number++) {
            RuleChecks.passes(group, 0, 1, tagOr0(5), number);
        }
    }

    /** Checks that messages with different tags may be received in a different order from the order of their sends. */
    @Rule(
            value = 203,
            needs = {MESSAGE_TAGS, ASYNCHRONOUS_MESSAGES})
    @ParameterizedTest(name = "{0} ints")
    @ValueSource(ints = {1, 100_000})
    default void tagsMayBeReceivedInAnotherOrderThanSent(int length) {
        eachRank(2, group -> {
            List<Work> sends = new ArrayList<>();
            for (int tag = 0; tag < 8; tag++) {
                int own = group.rank() == 0 ? tag : 7 - tag;
                int[] data = new int[length];
                if (group.rank() == 0) {
                    data[length - 1] = 100 + own;
                    sends.add(group.sendAsync(HostTensor.of(data), 1, own));
                } else {
                    group.recv(data, 0, own);
                    assertEquals(100 + own, data[length - 1], "message of tag " + own);
                }
            }
            sends.forEach(Work::await);
        });
    }

    /** Checks that two ranks may both wait for a receive first and for a send second. */
    @Rule(value = 204, needs = ASYNCHRONOUS_MESSAGES)
    @ParameterizedTest(name = "{0} floats")
    @ValueSource(ints = {3, 300_000})
    default void twoRanksMayReceiveFirstAndSendThen(int length) {
        eachRank(2, group -> {
            int peer = 1 - group.rank();
            float[] received = new float[length];
            Work receive = group.recvAsync(HostTensor.of(received), peer, 0);
            Work send = group.sendAsync(HostTensor.of(RuleChecks.floats(length, group.rank() + 1)), peer, 0);
            receive.await();
            send.await();
            assertArrayEquals(RuleChecks.floats(length, peer + 1), received, "what rank " + peer + " sent");
        });
    }

    /** Checks that a rank may send to itself. */
    @Rule(value = 205, needs = ASYNCHRONOUS_MESSAGES)
    @ParameterizedTest(name = "{0} longs")
    @ValueSource(ints = {2, 50_000})
    default void aRankMaySendToItself(int length) {
        for (int worldSize = 1; worldSize <= 2; worldSize++) {
            eachRank(worldSize, group -> {
                long[] data = new long[length];
                data[length - 1] = 41 + group.rank();
                long[] received = new long[length];
                Work send = group.sendAsync(HostTensor.of(data), group.rank(), tagOr0(9));
                group.recv(received, group.rank(), tagOr0(9));
                send.await();
                assertArrayEquals(data, received, "what rank " + group.rank() + " sent to itself");
            });
        }
    }

    /**
     * Checks that a message whose length differs from its receive fails. The failure has both lengths, and nothing is
     * written.
     */
    @Rule(value = 206, needs = MISMATCHES)
    @ParameterizedTest(name = "{0} ints for 10")
    @ValueSource(ints = {9, 11, 0, 50_000})
    default void aMessageOfAnotherLengthIsAMismatch(int sent) {
        int[] received = new int[10];
        List<Throwable> outcomes = outcomes(2, group -> {
            if (group.rank() == 0) {
                group.within(Duration.ofSeconds(2)).send(RuleChecks.filled(sent, 77), 1, 0);
            } else {
                group.within(Duration.ofSeconds(10)).recv(received, 0, 0);
            }
        });
        RuleChecks.says(RuleChecks.failure(outcomes, 1, Code.MISMATCH), Integer.toString(4 * sent), "40");
        assertArrayEquals(new int[10], received, "memory of the receive");
    }

    /**
     * Checks that collectives complete while a message is in flight. Messages are not part of the order of collectives.
     */
    @Rule(value = 207, needs = ASYNCHRONOUS_MESSAGES)
    default void collectivesOvertakeMessagesInFlight() {
        CountDownLatch polled = new CountDownLatch(2);
        eachRank(2, group -> {
            int peer = 1 - group.rank();
            byte[] received = new byte[200_000];
            byte[] sent = new byte[200_000];
            sent[199_999] = (byte) (group.rank() + 5);
            Work send = group.sendAsync(HostTensor.of(sent), peer, tagOr0(1));
            RuleChecks.works(group);
            RuleChecks.works(group);
            assertFalse(send.isDone(), "a send above the eager limit ended before its receive was posted");
            polled.countDown();
            RuleChecks.opens(polled, "the other rank has not checked its send");
            group.recv(received, peer, tagOr0(1));
            send.await();
            assertEquals(peer + 5, received[199_999], "last element from rank " + peer);
        });
    }

    /** Checks that a receive without a matching message times out, and that the group still works afterwards. */
    @Rule(value = 208, needs = ASYNCHRONOUS_MESSAGES)
    default void aReceiveWithoutAMessageTimesOutWithoutHarm() {
        CountDownLatch timedOut = new CountDownLatch(1);
        eachRank(2, group -> {
            if (group.rank() == 0) {
                Ranks.RankCode receive = each -> each.recv(new int[4], 1, tagOr0(7));
                RuleChecks.fails(receive, group.within(Duration.ofMillis(100)), Code.TIMED_OUT);
                timedOut.countDown();
            }
            RuleChecks.opens(timedOut, "the receive of rank 0 has not timed out");
            RuleChecks.works(group);
            RuleChecks.passes(group, 1, 0, tagOr0(7), 12);
        });
    }

    /** Checks that a ring of large blocking sends times out, because each send waits for its receive. */
    @Rule(
            value = 209,
            ranks = {2, 3},
            needs = ASYNCHRONOUS_MESSAGES)
    default void aRingOfBlockingSendsOf64MebibytesTimesOut(int worldSize) {
        byte[] shared = new byte[64 << 20];
        List<Throwable> outcomes = outcomes(worldSize, group -> {
            ProcessGroup hasty = group.within(Duration.ofMillis(500));
            hasty.send(shared, (group.rank() + 1) % worldSize, 0);
            hasty.recv(new byte[64 << 20], (group.rank() + worldSize - 1) % worldSize, 0);
        });
        boolean isTimeOut = RuleChecks.failures(outcomes, rank -> true, Code.TIMED_OUT, Code.ABORTED).stream()
                .anyMatch(failure -> failure.code() == Code.TIMED_OUT);
        assertTrue(isTimeOut, "no rank failed with TIMED_OUT: " + outcomes);
    }

    /** Checks that a message is not delivered to a receive with another tag. */
    @Rule(value = 211, needs = MESSAGE_TAGS)
    default void aMessageOfAnotherTagIsNotDelivered() {
        int[] received = new int[3];
        List<Throwable> outcomes = outcomes(2, group -> {
            ProcessGroup hasty = group.within(Duration.ofMillis(300));
            if (group.rank() == 0) {
                hasty.send(new int[] {7, 8, 9}, 1, 1);
            } else {
                hasty.recv(received, 0, 2);
            }
        });
        RuleChecks.failure(outcomes, 1, Code.TIMED_OUT);
        assertArrayEquals(new int[3], received, "memory of a receive of tag 2; tag 1 was sent");
    }

    /** Checks that all pending messages of a rank make progress together. */
    @Rule(
            value = 210,
            ranks = 4,
            needs = {MESSAGE_TAGS, ASYNCHRONOUS_MESSAGES})
    default void allPendingMessagesProgressTogether(ProcessGroup group) {
        List<Work> pending = new ArrayList<>();
        int[][] received = new int[group.worldSize() * 5][1];
        for (int number = received.length - 1; number >= 0; number--) {
            int from = number % group.worldSize();
            pending.add(group.recvAsync(HostTensor.of(received[number]), from, number / group.worldSize()));
        }
        for (int number = 0; number < received.length; number++) {
            int[] data = {1000 * group.rank() + number / group.worldSize()};
            pending.add(group.sendAsync(HostTensor.of(data), number % group.worldSize(), number / group.worldSize()));
        }
        pending.forEach(Work::await);
        for (int number = 0; number < received.length; number++) {
            int need = 1000 * (number % group.worldSize()) + number / group.worldSize();
            assertEquals(need, received[number][0], "message " + number + " to rank " + group.rank());
        }
    }

    /**
     * Checks that a back end does not accept messages that no rank receives without limit. The test sends more than 32
     * MiB, because TCP buffers up to 32 MiB with the usual limits of Linux.
     */
    @Rule(value = 212, ranks = 2, needs = ASYNCHRONOUS_MESSAGES)
    default void unreceivedMessagesAreNotAcceptedWithoutLimit(ProcessGroup group) {
        int length = (64 << 10) / Integer.BYTES;
        int count = 1536;
        int[] all = RuleChecks.rising(length + count, 1);
        if (group.rank() == 1) {
            group.send(new int[] {3}, 0, 0);
            List<Work> sends = new ArrayList<>();
            for (int number = 0; number < count; number++) {
                sends.add(group.sendAsync(HostTensor.of(DataType.INT32, all, number, length), 0, 0));
            }
            boolean taken = sends.get(count - 1).await(Duration.ofMillis(500));
            assertFalse(taken, count + " messages of 64 KiB were sent although none was received");
            group.barrier();
            sends.forEach(Work::await);
        } else {
            // after a first receive from a peer, a rank also accepts messages of this peer while the rank waits
            group.recv(new int[1], 1, 0);
            group.barrier();
            int[] received = new int[length];
            for (int number = 0; number < count; number++) {
                group.recv(received, 1, 0);
                assertEquals(number + 1, received[0], "first element of message " + number);
                assertEquals(number + length, received[length - 1], "last element of message " + number);
            }
        }
    }

    /**
     * Checks that an interrupted send fails the group, and that the other ranks report which rank was interrupted. An
     * interrupted receive without a matching message fails alone. If the back end has no asynchronous messages, the
     * interrupted receive also fails the group.
     */
    @Rule(value = 219, needs = ABORT_ACROSS_RANKS)
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"a send", "a receive"})
    default void anInterruptedMessageFailsWithInterruptedOnItsRank(String call) {
        boolean isSend = call.equals("a send");
        boolean isAlone = !isSend && !refuses(ASYNCHRONOUS_MESSAGES);
        int tag = refuses(MESSAGE_TAGS) ? 0 : 3;
        // no peer uses this tag, and the message is too large to be sent before it is received
        Ranks.RankCode waits =
                isSend ? group -> group.send(new int[100_000], 1, tag) : group -> group.recv(new int[1], 1, tag);
        List<Throwable> outcomes = outcomes(3, group -> {
            if (group.rank() == 0) {
                Thread.currentThread().interrupt();
                FerroException failure = RuleChecks.fails(waits, group, Code.INTERRUPTED);
                assertTrue(Thread.interrupted(), "the interrupt flag was not set again");
                assertTrue(failure.getMessage().contains("rank 0 was interrupted in "), failure.getMessage());
            } else if (group.rank() == 1 && isSend && tag > 0) {
                group.recv(new int[1], 0, tag + 1);
            }
            group.barrier();
        });
        if (isAlone) {
            RuleChecks.well(outcomes);
        } else {
            RuleChecks.failures(outcomes, rank -> true, Code.ABORTED).forEach(failure -> RuleChecks.blames(failure, 0));
        }
    }

    /** Checks that several threads of one rank may send messages and call collectives at the same time. */
    @Rule(
            value = 213,
            ranks = 2,
            needs = {MESSAGE_TAGS, ASYNCHRONOUS_MESSAGES})
    default void severalThreadsOfARankMaySendAndReceiveAtOnce(ProcessGroup group) throws Exception {
        List<CompletableFuture<Void>> talking = new ArrayList<>();
        for (int tag = 0; tag < 4; tag++) {
            int own = tag;
            talking.add(RuleChecks.onThread(() -> talk(group, own)));
        }
        for (int call = 0; call < 50; call++) {
            RuleChecks.works(group);
        }
        for (CompletableFuture<Void> talk : talking) {
            talk.get(20, TimeUnit.SECONDS);
        }
    }

    private static void talk(ProcessGroup group, int tag) {
        for (int number = 1; number <= 50; number++) {
            int[] data = RuleChecks.rising(number % 5 == 0 ? 20_000 : 3, 1000 * tag + number);
            RuleChecks.passes(group, 0, 1, tag, data);
            RuleChecks.passes(group, 1, 0, tag, data);
        }
    }
}
