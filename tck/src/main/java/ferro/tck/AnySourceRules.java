package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.MessageStatus;
import ferro.Work;
import ferro.group.MatchedMessage;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules 222 to 227 and 229 to 231, about receives from any rank and with any tag, probes and matched messages. */
interface AnySourceRules extends TestedBackend {
    /**
     * Checks that a receive from any rank takes the messages of each rank and tag in the order of their sends. Also
     * checks that the status of the receive describes the message. Some messages are small, and some are larger than
     * messages that are sent eagerly. Each rank also sends to itself.
     */
    @Rule(
            value = 222,
            ranks = {1, 2, 4},
            needs = {ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES})
    default void aReceiveFromAnyRankTakesMessagesInTheirOrder(ProcessGroup group) {
        int messages = 12;
        List<Work> sends = new ArrayList<>();
        for (int number = 0; number < messages; number++) {
            int[] data = new int[number % 4 == 3 ? 20_000 + number : 1 + number];
            data[0] = number;
            for (int to = 0; to < group.worldSize(); to++) {
                sends.add(group.sendAsync(HostTensor.of(data), to, number % 3));
            }
        }
        int[][] last = new int[group.worldSize()][3];
        Arrays.stream(last).forEach(each -> Arrays.fill(each, -1));
        int[] buffer = new int[20_000 + messages];
        for (int count = 0; count < group.worldSize() * messages; count++) {
            MessageStatus status = group.recvUpTo(HostTensor.of(buffer), ProcessGroup.ANY_SOURCE, ProcessGroup.ANY_TAG);
            int number = buffer[0];
            assertTrue(last[status.source()][status.tag()] < number, "message " + number + " after a later one");
            last[status.source()][status.tag()] = number;
            int length = number % 4 == 3 ? 20_000 + number : 1 + number;
            MessageStatus sent = MessageStatus.of(status.source(), number % 3, DataType.INT32, 4L * length);
            assertEquals(sent, status, "status of message " + number);
        }
        sends.forEach(Work::await);
        int[] lastSent = {messages - 3, messages - 2, messages - 1};
        Arrays.stream(last).forEach(each -> assertArrayEquals(lastSent, each, "last message of each tag"));
    }

    /** Checks that if several receives can take a message, the receive that was posted first gets the message. */
    @Rule(
            value = 223,
            ranks = 2,
            needs = {ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES})
    default void receivesFromOneRankAndFromAnyRankHaveOneOrder(ProcessGroup group) {
        int any = ProcessGroup.ANY_SOURCE;
        int[][] patterns = {{any, 4}, {1, 4}, {1, ProcessGroup.ANY_TAG}, {any, ProcessGroup.ANY_TAG}, {any, 4}, {1, 4}};
        for (int turn = 0; turn < 10; turn++) {
            if (group.rank() == 1) {
                group.barrier();
                for (int number = 0; number < patterns.length; number++) {
                    group.send(new int[] {100 * turn + number}, 0, 4);
                }
                continue;
            }
            List<Work> receives = new ArrayList<>();
            int[][] received = new int[patterns.length][1];
            for (int number = 0; number < patterns.length; number++) {
                int[] pattern = patterns[number];
                receives.add(group.recvAsync(HostTensor.of(received[number]), pattern[0], pattern[1]));
            }
            group.barrier();
            for (int number = 0; number < patterns.length; number++) {
                receives.get(number).await();
                assertEquals(100 * turn + number, received[number][0], "message of receive " + number);
            }
        }
    }

    /**
     * Checks that while messages of several ranks wait, no rank is passed over more often than the group has ranks. The
     * test alternates between two ways to take a message, for each pair of the twelve ways. If the second way has the
     * larger number, the test also receives messages of another tag in between. Only the last rank sends messages of
     * another tag.
     */
    @Rule(
            value = 224,
            needs = {ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES})
    @ParameterizedTest(name = "{0} senders")
    @ValueSource(ints = {2, 3, 4})
    default void aReceiveFromAnyRankTreatsAllRanksFairly(int senders) {
        int ways = 12;
        int messages = 8;
        eachRank(senders + 1, group -> {
            for (int mix = 0; mix < ways * ways; mix++) {
                int tag = 10 + 2 * mix;
                int first = mix / ways;
                int second = mix % ways;
                if (group.rank() == 0) {
                    takesTurns(group, first, second, tag, messages);
                    continue;
                }
                sendNumbers(group, messages, tag);
                sendNumbers(group, second > first && group.rank() == senders ? senders * messages : 0, tag + 1);
                group.send(new int[1], 0, 9);
            }
        });
    }

    private static void takesTurns(ProcessGroup group, int first, int second, int tag, int messages) throws Exception {
        int worldSize = group.worldSize();
        int[] left = new int[worldSize];
        for (int peer = 1; peer < worldSize; peer++) {
            // the last message of the peer: all others wait
            group.recv(new int[1], peer, 9);
            left[peer] = messages;
        }
        int[] passedOver = new int[worldSize];
        for (int count = 0; count < (worldSize - 1) * messages; count++) {
            int way = count % 2 == 0 ? first : second;
            int named = 1;
            while (left[named] == 0) {
                named++;
            }
            int source = take(group, way, named, tag);
            left[source]--;
            for (int peer = 1; peer < worldSize; peer++) {
                int more = isNamedByTheProgram(way) ? 0 : 1;
                passedOver[peer] = peer == source || left[peer] == 0 ? 0 : passedOver[peer] + more;
                assertTrue(
                        passedOver[peer] <= worldSize,
                        "rank " + peer + " was passed over " + passedOver[peer] + " times, ways " + first + ", "
                                + second);
            }
            if (second > first) {
                group.recv(new int[1], ProcessGroup.ANY_SOURCE, tag + 1);
                passedOver[worldSize - 1] = 0;
            }
        }
    }

    /**
     * Takes a message in one of twelve ways. First, the test makes no probe, a probe from any rank or a probe of the
     * rank {@code named}. Then a receive or a match takes a message. The receive or match accepts a message from any
     * rank, or only from the rank that the probe has found. If the test made no probe, it accepts only a message from
     * the rank {@code named} in place of the rank that a probe has found. Returns the rank that has sent the message.
     */
    private static int take(ProcessGroup group, int way, int named, int tag) throws Exception {
        int any = ProcessGroup.ANY_SOURCE;
        int found = way % 3 == 0
                ? named
                : group.probe(way % 3 == 1 ? any : named, tag).source();
        int from = way % 6 < 3 ? any : found;
        if (way < 6) {
            return group.recv(new int[1], from, tag).source();
        }
        MatchedMessage message = group.match(from, tag);
        message.recv(HostTensor.of(new int[1]));
        return message.status().source();
    }

    /** Returns whether the test itself has named the rank, instead of a probe from any rank. */
    private static boolean isNamedByTheProgram(int way) {
        return way % 6 >= 3 && way % 3 != 1;
    }

    private static void sendNumbers(ProcessGroup group, int count, int tag) {
        for (int number = 0; number < count; number++) {
            group.send(new int[] {number}, 0, tag);
        }
    }

    /** Checks that a receive from any rank fails only when all other ranks have left. */
    @Rule(
            value = 225,
            needs = {ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES, EARLY_LEAVES})
    default void aReceiveFromAnyRankContinuesUntilAllOthersHaveLeft() {
        CountDownLatch hasLeft = new CountDownLatch(1);
        CountDownLatch received = new CountDownLatch(1);
        List<Throwable> ends = outcomes(3, group -> {
            if (group.rank() == 2) {
                group.send(new int[] {2}, 0, 0);
                group.close();
                hasLeft.countDown();
            } else if (group.rank() == 1) {
                RuleChecks.opens(received, "rank 0 has received nothing");
                RuleChecks.opens(hasLeft, "rank 2 has not left");
                group.send(new int[] {1}, 0, 0);
                group.close();
            } else {
                assertEquals(
                        2, group.recv(new int[1], ProcessGroup.ANY_SOURCE, 0).source(), "first sender");
                received.countDown();
                assertEquals(
                        1, group.recv(new int[1], ProcessGroup.ANY_SOURCE, 0).source(), "second sender");
                Ranks.RankCode third = each -> each.recv(new int[1], ProcessGroup.ANY_SOURCE, 0);
                FerroException failure = RuleChecks.fails(third, group.within(Duration.ofSeconds(20)), Code.PEER_LOST);
                assertEquals(Set.of(1, 2), failure.where().culprits(), "ranks to blame");
                RuleChecks.says(failure, "recv from any rank tag 0");
            }
        });
        RuleChecks.well(ends);
    }

    /** Checks that a receive from any rank that times out does no harm, and blames no rank while a rank can send. */
    @Rule(
            value = 226,
            needs = {ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES})
    default void aReceiveFromAnyRankThatTimesOutBlamesNoRankThatCanSend() {
        blamesNoRankWhileOneCanSend();
        blamesRanksThatWaitForEachOther();
    }

    private void blamesNoRankWhileOneCanSend() {
        CountDownLatch timedOut = new CountDownLatch(1);
        eachRank(3, group -> {
            if (group.rank() == 0) {
                FerroException failure = timedOutAtAnyRank(group);
                timedOut.countDown();
                assertEquals(Set.of(), failure.where().culprits(), failure.getMessage());
                group.send(new int[] {8}, 1, 3);
            } else if (group.rank() == 1) {
                // this rank waits for rank 0, but rank 2 can send
                int[] word = new int[1];
                group.recv(word, 0, 3);
                assertEquals(8, word[0], "message after the time-out");
            }
            RuleChecks.opens(timedOut, "the receive of rank 0 has not timed out");
            RuleChecks.works(group);
        });
    }

    private void blamesRanksThatWaitForEachOther() {
        // rank 3 leaves the group, so that it cannot send any more
        int worldSize = refuses(EARLY_LEAVES) ? 3 : 4;
        eachRank(worldSize, group -> {
            // ranks 1 and 2 wait from here on, also while they are in the barrier
            Work waiting = group.rank() == 0 || group.rank() == 3
                    ? null
                    : group.recvAsync(HostTensor.of(new int[1]), ProcessGroup.ANY_SOURCE, 0);
            group.barrier();
            if (group.rank() == 3) {
                group.close();
            } else if (group.rank() == 0) {
                Set<Integer> blamed = Set.of();
                while (blamed.isEmpty()) {
                    // a rank that is slow may still be about to leave the barrier
                    blamed = timedOutAtAnyRank(group).where().culprits();
                }
                assertEquals(Set.of(0, 1, 2), blamed, "ranks that wait for each other");
                group.send(new int[1], 1, 0);
                group.send(new int[1], 2, 0);
            } else {
                waiting.await();
            }
        });
    }

    private static FerroException timedOutAtAnyRank(ProcessGroup group) {
        Ranks.RankCode receive = each -> each.recv(new int[1], ProcessGroup.ANY_SOURCE, 0);
        return RuleChecks.fails(receive, group.within(Duration.ofMillis(300)), Code.TIMED_OUT);
    }

    /** Checks that sends to any rank or with any tag are refused, and a receive with rank and tag exchanged too. */
    @Rule(value = 227, ranks = 2)
    default void anyRankAndAnyTagAreRefusedInSends(ProcessGroup group) {
        int any = ProcessGroup.ANY_SOURCE;
        int anyTag = ProcessGroup.ANY_TAG;
        HostTensor data = HostTensor.of(new int[1]);
        RuleChecks.refused(InvalidRankException.class, () -> group.send(data, any, 0), "ANY_SOURCE");
        RuleChecks.refused(IllegalArgumentException.class, () -> group.send(data, 1, anyTag), "ANY_TAG");
        RuleChecks.refused(IllegalArgumentException.class, () -> group.recv(data, anyTag, any), "ANY_TAG");
        RuleChecks.refused(IllegalArgumentException.class, () -> group.recv(data, any, -1), "-1");
        RuleChecks.refused(InvalidRankException.class, () -> group.recvUpTo(data, 2, 0), "2");
        if (refuses(OPEN_RECEIVES)) {
            RuleChecks.refused(UnsupportedOperationException.class, () -> group.recv(data, any, 0), "any rank");
            RuleChecks.refused(
                    UnsupportedOperationException.class, () -> group.recv(data, 1 - group.rank(), anyTag), "any tag");
            RuleChecks.refused(
                    UnsupportedOperationException.class, () -> group.recvUpTo(data, 1 - group.rank(), 0), "length");
            RuleChecks.refused(UnsupportedOperationException.class, () -> group.probe(1 - group.rank(), 0), "length");
            RuleChecks.refused(UnsupportedOperationException.class, () -> group.match(1 - group.rank(), 0), "length");
        }
        RuleChecks.works(group);
    }

    /** Checks that a probe describes a message without taking it, and that a probe times out without harm. */
    @Rule(
            value = 229,
            ranks = 3,
            needs = {ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES})
    default void aProbeDescribesAMessageWithoutReceivingIt(ProcessGroup group) {
        int any = ProcessGroup.ANY_SOURCE;
        if (group.rank() > 0) {
            group.barrier();
            for (int length : new int[] {3, 30_000}) {
                int[] data = new int[length];
                data[0] = group.rank();
                group.send(data, 0, 10 + group.rank());
            }
            RuleChecks.works(group);
            return;
        }
        assertEquals(Optional.empty(), group.probeNow(any, ProcessGroup.ANY_TAG), "message before its send");
        RuleChecks.fails(each -> each.probe(1, 5), group.within(Duration.ofMillis(100)), Code.TIMED_OUT);
        group.barrier();
        for (int count = 0; count < 4; count++) {
            MessageStatus message = group.probe(any, ProcessGroup.ANY_TAG);
            assertEquals(message, group.probe(message.source(), message.tag()), "second probe");
            Optional<MessageStatus> now = group.probeNow(message.source(), ProcessGroup.ANY_TAG);
            assertEquals(Optional.of(message), now, "probe of a message that is there");
            int[] data = new int[(int) message.elements()];
            assertEquals(message, group.recv(data, message.source(), message.tag()), "received message");
            assertEquals(message.source(), data[0], "first element");
            assertEquals(10 + message.source(), message.tag(), "tag");
        }
        assertEquals(Optional.empty(), group.probeNow(any, ProcessGroup.ANY_TAG), "message after the last one");
        RuleChecks.works(group);
    }

    /** Checks that no other receive gets a matched message, which is received once. A single rank sends to itself. */
    @Rule(
            value = 230,
            needs = {ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES})
    @ParameterizedTest(name = "{0} ranks, {1} elements")
    @CsvSource({"1, 5", "1, 40000", "2, 5", "2, 40000"})
    default void aMatchedMessageIsReceivedByNoOtherReceive(int worldSize, int length) {
        eachRank(worldSize, group -> {
            int peer = worldSize - 1 - group.rank();
            List<Work> sends = new ArrayList<>();
            for (int number = 0; number < 3; number++) {
                sends.add(group.sendAsync(HostTensor.of(RuleChecks.filled(length, 7 + number)), peer, 6));
            }
            MatchedMessage first = group.match(ProcessGroup.ANY_SOURCE, 6);
            MatchedMessage second = group.match(peer, ProcessGroup.ANY_TAG);
            MessageStatus sent = MessageStatus.of(peer, 6, DataType.INT32, 4L * length);
            assertEquals(sent, first.status(), "status of a matched message");
            int[] third = new int[length];
            group.recv(third, peer, 6);
            assertEquals(9, third[length - 1], "last element of the third message");

            RuleChecks.refused(IllegalArgumentException.class, () -> second.recv(HostTensor.of(new int[1])), "shorter");
            RuleChecks.refused(
                    IllegalArgumentException.class, () -> second.recv(HostTensor.of(new float[length])), "type");
            HostTensor received = second.recv();
            assertEquals(8, received.getInt(length - 1), "last element of the second message");
            assertEquals(length, received.elementCount(), "elements of the second message");
            int[] longer = new int[length + 1];
            first.recv(HostTensor.of(longer));
            assertEquals(7, longer[length - 1], "last element of the first message");
            assertEquals(0, longer[length], "element behind the message");
            RuleChecks.refused(IllegalStateException.class, () -> first.recv(HostTensor.of(longer)), "received before");
            assertEquals(Optional.empty(), group.matchNow(peer, 6), "match after the last message");
            sends.forEach(Work::await);
        });
    }

    /** Checks that a posted receive gets its message, even while the sender keeps as many messages as it may. */
    @Rule(
            value = 231,
            ranks = 2,
            needs = {ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES})
    default void aPostedReceiveGetsItsMessageBesideUnreceivedMessages(ProcessGroup group) {
        int unreceived = 280; // 17.5 MiB, more than a rank keeps
        int length = 64 << 10;
        byte[] large = new byte[3 * length];
        if (group.rank() == 0) {
            List<Work> sends = new ArrayList<>();
            for (int number = 0; number < unreceived; number++) {
                byte[] data = new byte[length];
                Arrays.fill(data, (byte) number);
                sends.add(group.sendAsync(HostTensor.of(data), 1, 5));
            }
            group.recv(large, 1, 6);
            assertEquals(7, large[3 * length - 1], "last element of the large message");
            sends.forEach(Work::await);
            return;
        }
        Arrays.fill(large, (byte) 7);
        group.send(large, 0, 6);
        byte[] received = new byte[length];
        for (int number = 0; number < unreceived; number++) {
            group.recv(received, 0, 5);
            assertEquals((byte) number, received[length - 1], "last element of message " + number);
        }
    }
}
