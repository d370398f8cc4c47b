package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.Message;
import ferro.ReduceOp;
import ferro.Work;
import ferro.collectives.CollectiveEngine;
import ferro.collectives.engine.StillTransport.Trouble;
import ferro.control.failure.ControlMessage;
import ferro.control.failure.ControlMessage.Abort;
import ferro.control.failure.ControlMessage.Goodbye;
import ferro.control.failure.ControlMessage.Query;
import ferro.control.failure.Failure;
import ferro.control.failure.StatusAnswer;
import ferro.group.SystemContext;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** How often a rank wakes while its peer does not come, and what wakes it. */
@Timeout(120)
class WaitingRankTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration LONG = Duration.ofHours(1);

    private final Trouble faults = new Trouble();
    private final SystemContext process = SystemContext.of(Map.of("ferro.heartbeat.interval", "0s"));
    private final MovedClock clock = new MovedClock(process);
    private final Semaphore asleep = new Semaphore(0);
    private final Semaphore bell = new Semaphore(0);
    private CollectiveBackend group;

    /** A context whose clock is moved by the sleeps. */
    private static final class MovedClock extends ForwardingContext {
        private volatile long now = 1;

        MovedClock(RankContext outer) {
            super(outer);
        }

        @Override
        public long nanoTime() {
            return now;
        }

        private void sleep(long untilNanos) {
            now = Math.max(now, untilNanos);
        }
    }

    @AfterEach
    void close() {
        group.close(Duration.ZERO);
        process.close();
    }

    private static Collective sum() {
        return Collective.allReduce(HostTensor.of(new float[] {3, 5}), ReduceOp.SUM);
    }

    private void query(long ask) {
        faults.events.control(1, Query.about(ask, null, false).encoded());
    }

    private List<StatusAnswer> answers() {
        return faults.sent.stream()
                .map(message -> ControlMessage.decode(message.duplicate(), 2))
                .filter(StatusAnswer.class::isInstance)
                .map(StatusAnswer.class::cast)
                .toList();
    }

    /** A call whose peer does not come. */
    private enum Call {
        COLLECTIVE,
        RECEIVE;

        void run(CollectiveBackend group, Duration timeout) {
            if (this == COLLECTIVE) {
                group.run(sum(), timeout);
            } else {
                submit(group, timeout).await();
            }
        }

        Work submit(CollectiveBackend group, Duration timeout) {
            return this == COLLECTIVE
                    ? group.submit(sum(), timeout)
                    : group.submit(Message.recv(HostTensor.of(new float[2]), 1, 7), timeout);
        }
    }

    @ParameterizedTest
    @EnumSource(Call.class)
    @DisplayName("a rank that waits for a minute sleeps at most 10 times a second")
    void aWaitingRankSleepsAtMost10TimesPerSecond(Call call) {
        AtomicInteger sleeps = new AtomicInteger();
        faults.parked = until -> {
            sleeps.incrementAndGet();
            clock.sleep(until);
        };
        group = over(2, clock);

        FerroException late = assertThrows(FerroException.class, () -> call.run(group, MINUTE));

        assertEquals(Code.TIMED_OUT, late.code(), late.getMessage());
        assertEquals(MINUTE.toMillis(), late.where().elapsed().toMillis(), 100, late.getMessage());
        assertTrue(sleeps.get() <= 10 * MINUTE.toSeconds(), sleeps + " sleeps");
    }

    @ParameterizedTest
    @EnumSource(Call.class)
    @DisplayName("no sleep takes more than a second, however long the caller waits")
    void aSleepTakesAtMostOneSecond(Call call) {
        AtomicLong longest = new AtomicLong();
        Thread caller = Thread.currentThread();
        faults.parked = until -> {
            // the progress thread leaves the loop as soon as the caller waits, and must not move the clock before
            if (Thread.currentThread() == caller) {
                longest.accumulateAndGet(until - clock.now, Math::max);
                clock.sleep(until);
            }
        };
        group = over(2, clock);

        assertFalse(call.submit(group, LONG).await(MINUTE));

        assertEquals(Duration.ofSeconds(1), Duration.ofNanos(longest.get()));
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    @DisplayName(
            "a virtual thread that waits for a minute sleeps at most 10 times a second in a transport that allows it")
    void aWaitingVirtualThreadSleepsAtMost10TimesPerSecond() throws Exception {
        AtomicInteger sleeps = new AtomicInteger();
        faults.parksVirtualThreads = true;
        faults.parked = until -> {
            sleeps.incrementAndGet();
            clock.sleep(until);
        };
        group = over(2, clock);

        assertEquals(Code.TIMED_OUT, failureOnVirtualThread(MINUTE).code());
        assertTrue(sleeps.get() <= 10 * MINUTE.toSeconds(), sleeps + " sleeps");
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    @DisplayName(
            "a virtual thread that waits for a second polls at most 250 times in a transport that keeps its carrier")
    void aVirtualThreadPollsAtGrowingIntervals() throws Exception {
        AtomicInteger polls = new AtomicInteger();
        faults.polled = polls::incrementAndGet;
        SystemContext noSpins = SystemContext.of(Map.of("ferro.heartbeat.interval", "0s", "ferro.spin.count", "0"));
        group = over(2, noSpins);

        assertEquals(
                Code.TIMED_OUT, failureOnVirtualThread(Duration.ofSeconds(1)).code());
        assertTrue(polls.get() <= 250, polls + " polls");
        group.close(Duration.ZERO);
        noSpins.close();
    }

    private FerroException failureOnVirtualThread(Duration timeout) throws Exception {
        FerroException[] failure = new FerroException[1];
        Runnable call = () -> failure[0] = assertThrows(FerroException.class, () -> group.run(sum(), timeout));
        // the sources are of JDK 17
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        Thread thread = (Thread) start.invoke(null, call);
        thread.join(TimeUnit.SECONDS.toMillis(60));
        assertFalse(thread.isAlive(), "the call does not end");
        return failure[0];
    }

    @ParameterizedTest
    @EnumSource(Call.class)
    @DisplayName("a rank that sleeps has said for which rank it waits")
    void aSleepingRankHasPublishedForWhichRankItWaits(Call call) {
        AtomicInteger sleeps = new AtomicInteger();
        faults.parked = until -> {
            if (until - clock.now > TimeUnit.MILLISECONDS.toNanos(20)) {
                query(sleeps.incrementAndGet());
            }
            clock.sleep(until);
        };
        group = over(2, clock);
        assertThrows(FerroException.class, () -> call.run(group, MINUTE));

        assertFalse(answers().isEmpty());
        answers().forEach(answer -> assertEquals(Set.of(1), answer.waitsFor(), answer::toString));
    }

    @ParameterizedTest
    @CsvSource({"COLLECTIVE, 2", "RECEIVE, 2", "COLLECTIVE, 3"})
    @DisplayName("a peer that leaves in answer to the last question is why a call fails, and no rank blames itself")
    void aGoodbyeAfterTheLastQueryFailsTheCall(Call call, int worldSize) {
        // the last sleep ends late, so that the last question and the deadline come together
        long lastSleep = TimeUnit.MILLISECONDS.toNanos(900);
        faults.parked = until -> clock.sleep(until < lastSleep ? until : until + TimeUnit.MILLISECONDS.toNanos(200));
        faults.onControl = message -> {
            if (ControlMessage.decode(message, worldSize) instanceof Query asked) {
                if (clock.now >= Duration.ofSeconds(1).toNanos()) {
                    faults.events.control(1, goodbye(worldSize));
                }
                if (worldSize > 2) {
                    // all have answered, so that the call is judged at once
                    StatusAnswer peer =
                            new StatusAnswer(asked.ask(), 1, "", 1, 0, 0, "", "in allReduce", Set.of(), 0, 0, "");
                    faults.events.control(2, peer.encoded());
                }
            }
        };
        group = over(worldSize, clock);

        FerroException failure = assertThrows(FerroException.class, () -> call.run(group, Duration.ofSeconds(1)));

        assertEquals(Code.PEER_LOST, failure.code(), failure.getMessage());
        assertEquals(Set.of(1), failure.where().culprits());
    }

    @Test
    @DisplayName("a short message that no rank receives blames its receiver, also while other messages move")
    void anUnreceivedMessageBlamesItsReceiverWhileOthersMove() {
        faults.parked = until -> {
            faults.bytesMoved++;
            clock.sleep(until);
        };
        faults.onControl = message -> {
            if (ControlMessage.decode(message, 2) instanceof Query asked) {
                StatusAnswer idle = new StatusAnswer(asked.ask(), 0, "", 0, 0, 0, "", "", Set.of(), 0, 0, "");
                faults.events.control(1, idle.encoded());
            }
        };
        group = over(2, clock);

        FerroException failure = assertThrows(
                FerroException.class,
                () -> group.submit(Message.send(HostTensor.of(new float[2]), 1, 7), MINUTE)
                        .await());

        assertEquals(Code.TIMED_OUT, failure.code(), failure.getMessage());
        assertEquals(Set.of(1), failure.where().culprits(), failure.getMessage());
    }

    @Test
    @DisplayName("a broadcast of the root sends nothing and fails at once if a rank has left long ago")
    void aCallAfterALeaveFailsAtOnce() {
        group = over(3, clock);
        faults.events.control(1, goodbye(3));
        clock.now += MINUTE.toNanos();
        long begun = clock.now;
        // a call that waits ends with its time
        faults.parked = clock::sleep;

        FerroException failure = assertThrows(
                FerroException.class,
                () -> group.run(Collective.broadcast(HostTensor.of(new float[] {3, 5}), 0), MINUTE));

        assertEquals(Code.PEER_LOST, failure.code(), failure.getMessage());
        assertEquals(Set.of(1), failure.where().culprits());
        assertEquals(List.of(), faults.sends);
        assertEquals(begun, clock.now, "it waits");
    }

    private CollectiveBackend over(int worldSize, RankContext context) {
        faults.worldSize = worldSize;
        return CollectiveEngine.over(
                new StillTransport(faults, true), GroupSpec.of("still", 0, worldSize, LONG), context);
    }

    /** Returns the goodbye of rank 1, which has made no call. */
    private static ByteBuffer goodbye(int worldSize) {
        return new Goodbye(0, 0, 0, 0, "", 0, 2 % worldSize).encoded();
    }

    /** What may happen to a rank that sleeps. */
    private enum Reason {
        HEARD_OF_A_FAILURE(Code.ABORTED),
        LOST_THE_PEER(Code.PEER_LOST),
        GOODBYE(Code.PEER_LOST),
        ABORT(Code.ABORTED),
        CLOSE(Code.ABORTED),
        INTERRUPT(Code.INTERRUPTED);

        private final Code code;

        Reason(Code code) {
            this.code = code;
        }
    }

    /** Sleeps until it is woken, whatever the time. */
    private void sleepUntilWoken() {
        asleep.release();
        try {
            bell.acquire();
            bell.drainPermits();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private CollectiveBackend sleeping() {
        faults.parked = until -> sleepUntilWoken();
        faults.woken = bell::release;
        return over(2, process);
    }

    private void awaitSleep() throws InterruptedException {
        assertTrue(asleep.tryAcquire(60, TimeUnit.SECONDS), "it does not sleep");
    }

    private static Stream<Arguments> eachCallAndReason() {
        return Arrays.stream(Call.values())
                .flatMap(call -> Arrays.stream(Reason.values()).map(reason -> Arguments.of(call, reason)));
    }

    @ParameterizedTest
    @MethodSource("eachCallAndReason")
    void everyReasonToWakeEndsASleep(Call call, Reason reason) throws InterruptedException {
        group = sleeping();
        FerroException[] ended = new FerroException[1];
        Thread caller = new Thread(() -> ended[0] = assertThrows(FerroException.class, () -> call.run(group, LONG)));
        caller.start();
        awaitSleep();
        switch (reason) {
            case HEARD_OF_A_FAILURE -> {
                Failure sent = new Failure(Code.ABORTED, 1, -1, Set.of(1), "rank 1 aborted the group", null);
                faults.events.control(1, new Abort(0, Set.of(), sent).encoded());
            }
            case LOST_THE_PEER ->
                faults.events.lost(1, new FerroException(Code.PEER_LOST, Where.of("pair", 0), "rank 1 is gone"));
            case GOODBYE -> faults.events.control(1, new Goodbye(0, 0, 0, 0, "", 0, 0).encoded());
            case ABORT -> group.abort(new IllegalStateException("loss is not a number"));
            case CLOSE -> group.close(Duration.ZERO);
            case INTERRUPT -> caller.interrupt();
        }
        caller.join(TimeUnit.SECONDS.toMillis(60));

        assertFalse(caller.isAlive(), "not woken");
        assertEquals(reason.code, ended[0].code(), ended[0].getMessage());
    }

    @Test
    void aCallOfAnotherThreadWakesASleepingRank() throws InterruptedException {
        group = sleeping();
        Thread caller = new Thread(() -> assertThrows(FerroException.class, () -> group.run(sum(), LONG)));
        caller.start();
        awaitSleep();
        group.submit(sum(), LONG);
        while (!Set.copyOf(faults.sends).equals(Set.of(1L, 2L))) {
            awaitSleep();
        }

        group.abort(new IllegalStateException("the test is over"));
        caller.join(TimeUnit.SECONDS.toMillis(60));
    }
}
