package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.Message;
import ferro.ReduceOp;
import ferro.Work;
import ferro.collectives.CollectiveEngine;
import ferro.collectives.engine.OperationExecutor.LinkExecutor;
import ferro.collectives.engine.OperationQueue.Operation;
import ferro.collectives.engine.StillTransport.Trouble;
import ferro.group.SystemContext;
import ferro.recorder.FlightRecorder;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One rank of two whose other one never says anything, driven by hand, on a clock that the test moves. */
@Timeout(60)
class GroupEngineTest {
    private static final Duration LONG = Duration.ofSeconds(1000);
    private static final long MILLI = 1_000_000;

    private final Trouble trouble = new Trouble();
    private final StillTransport transport = new StillTransport(trouble, true);
    private final ClockOfTest context = new ClockOfTest(SystemContext.of(Map.of(
            "ferro.heartbeat.interval",
            "1000s",
            "ferro.heartbeat.suspect",
            "2000s",
            "ferro.heartbeat.limit",
            "3000s")));
    private final CollectiveEngine.SteppedEngine stepped =
            CollectiveEngine.stepped(transport, GroupSpec.of("pair", 0, 2, LONG), context);
    private final GroupEngine engine = (GroupEngine) stepped.backend();

    /** All of a process but its clock. */
    private static final class ClockOfTest extends ForwardingContext {
        private volatile long now = 5 * MILLI;

        private final SystemContext process;

        ClockOfTest(SystemContext process) {
            super(process);
            this.process = process;
        }

        @Override
        public long nanoTime() {
            return now;
        }
    }

    @AfterEach
    void close() {
        context.process.close();
    }

    private static HostTensor pair() {
        return HostTensor.of(new float[] {3, 5});
    }

    @Test
    void aMediumThatCannotWaitFailsTheGroupOnly() {
        try (SystemContext process = SystemContext.of(Map.of("ferro.heartbeat.interval", "0s"))) {
            CollectiveBackend group = CollectiveEngine.over(
                    new StillTransport(new Trouble(), true), GroupSpec.of("pair", 0, 2, LONG), process);
            Work work = group.submit(Collective.allReduce(pair(), ReduceOp.SUM), LONG);

            FerroException told = assertThrows(FerroException.class, work::await);

            assertEquals(Code.ABORTED, told.code());
            assertTrue(told.getMessage().contains("parks nobody"), told.getMessage());
            group.close();
        }
    }

    /**
     * Four hundred is more than what counts as a rank that stood still, at every look. No heartbeats: they are sent in
     * the machine's time, and would read a clock that no longer agrees with it as a pause of the process.
     */
    @ParameterizedTest
    @CsvSource({"100, 1100", "400, 3000"})
    void aDeadlineIsKeptAlthoughTheCoreIsTakenForLong(int yieldMillis, int mostMillis) {
        Map<String, String> alone =
                Map.of("LOCAL_WORLD_SIZE", "2", "FERRO_LOCAL_CORES", "2", "ferro.heartbeat.interval", "0s");
        try (SystemContext process = SystemContext.of(alone)) {
            ClockOfTest clock = new ClockOfTest(process);
            AtomicInteger polls = new AtomicInteger();
            Trouble busy = new Trouble();
            int spins = PollBudget.of(process, 2).spins();
            busy.polled = () -> clock.now += polls.incrementAndGet() > spins ? yieldMillis * MILLI : 0;
            busy.parked = until -> {};
            CollectiveBackend group =
                    CollectiveEngine.over(new StillTransport(busy, true), GroupSpec.of("pair", 0, 2, LONG), clock);

            FerroException told =
                    assertThrows(FerroException.class, () -> group.run(Collective.barrier(), Duration.ofSeconds(1)));

            assertEquals(Code.TIMED_OUT, told.code(), told.getMessage());
            long millis = told.where().elapsed().toMillis();
            assertTrue(millis >= 1000 && millis <= mostMillis, told.getMessage());
            group.close();
        }
    }

    @Test
    void anAbortEndsOperationsAlthoughMemoryRunsOut() {
        Work work = sum(HostTensor.of(new float[] {3, 5, 7}));
        stepped.advance();
        trouble.outOfMemory = true;

        engine.abort(new IllegalStateException("given up by the test"));
        stepped.advance();

        assertFalse(trouble.outOfMemory, "the place of the operation was asked for");
        assertEquals(1, trouble.abandons);
        assertTrue(work.isDone());
        assertEquals(
                Code.ABORTED, assertThrows(FerroException.class, work::await).code());
    }

    @Test
    void aFailureToCloseMembershipStillClosesTransportAndRecorder() {
        trouble.refusesToTell = true;

        assertThrows(IllegalStateException.class, engine::close);

        assertEquals(1, trouble.closes, "of the group's own transport");
        assertEquals(Optional.empty(), context.find(FlightRecorder.class));
    }

    @Test
    void theStatusOfARankNamesItsOldestOperationInFlight() {
        engine.submit(Message.recv(pair(), 0, 1), LONG);
        stepped.advance();
        context.now += 50 * MILLI;
        stepped.advance();
        assertEquals("recv from rank 0 tag 1", engine.parts().status().operation());

        engine.submit(Message.send(pair(), 0, 1), LONG);
        stepped.advance();
        engine.submit(Message.recv(pair(), 0, 2), LONG);
        stepped.advance();

        assertEquals("recv from rank 0 tag 2", engine.parts().status().operation());
        assertEquals(Set.of(0), engine.parts().status().waitingFor());
        engine.submit(Message.send(pair(), 0, 2), LONG);
        stepped.advance();
        assertEquals("", engine.parts().status().operation());
    }

    @Test
    void aClosedQueueRefusesOperations() {
        ProgressLock queue = new ProgressLock();
        Operation first = operation();
        Operation second = operation();

        assertTrue(queue.add(first));
        assertTrue(queue.close());
        assertFalse(queue.add(second));

        assertEquals(1, first.sequence());
        assertSame(first, queue.poll());
        assertTrue(queue.isEmpty());
    }

    private Work sum(HostTensor tensor) {
        return engine.submit(Collective.allReduce(tensor, ReduceOp.SUM), LONG);
    }

    @Test
    void smallOperationsRunTogether() {
        for (int i = 0; i < 4; i++) {
            sum(pair());
        }

        stepped.advance();

        assertEquals(List.of(1L, 2L, 3L, 4L), trouble.sends);
    }

    @Test
    void atMostMaxRunsOperationsRunTogether() {
        for (int i = 0; i < LinkExecutor.MAX_RUNS + 3; i++) {
            sum(pair());
        }

        stepped.advance();

        assertEquals(LinkExecutor.MAX_RUNS, trouble.sends.size());
    }

    @Test
    void anOperationWaitsForTheOneWhoseResultItReads() {
        HostTensor first = HostTensor.of(new float[] {3, 5, 7, 11});
        sum(first);
        sum(pair());
        sum(first.slice(3, 1));
        sum(pair());

        stepped.advance();

        assertEquals(List.of(1L, 2L), trouble.sends);
    }

    @Test
    void aLargeOperationWaitsForThoseBeforeIt() {
        int most = (int) LinkExecutor.MAX_SHARING_BYTES / Float.BYTES;
        sum(HostTensor.of(new float[most]));
        sum(HostTensor.of(new float[most + 1]));
        sum(pair());

        stepped.advance();

        assertEquals(List.of(1L), trouble.sends);
    }

    @Test
    void aBarrierRunsAfterEarlierAndBeforeLaterOperations() {
        sum(pair());
        engine.submit(Collective.barrier(), LONG);
        sum(pair());

        stepped.advance();

        assertEquals(List.of(1L), trouble.sends);
    }

    @Test
    void eachQueuedOperationFailsWithItsOwnNumberAndPosition() {
        HostTensor shared = pair();
        List<Work> queued = List.of(sum(shared), sum(pair()), sum(shared));
        stepped.advance();

        engine.abort(new IllegalStateException("given up by the test"));
        stepped.advance();

        for (int i = 0; i < 3; i++) {
            FerroException told = assertThrows(FerroException.class, queued.get(i)::await);
            assertEquals(i + 1, told.where().sequence());
            assertEquals(i == 2, told.where().step() == -1, "whether operation " + (i + 1) + " had not begun");
        }
    }

    @Test
    void aQueueKeepsNoReferenceToARemovedOperation() throws InterruptedException {
        ProgressLock queue = new ProgressLock();
        assertLetGo(through(queue), "the queue keeps what was added last");
        assertTrue(queue.isEmpty());
    }

    @Test
    void failedCallsKeepNoReferenceToTheirTensors() throws InterruptedException {
        List<WeakReference<float[]>> arrays = List.of(failing(), failing());
        engine.abort(new IllegalStateException("given up by the test"));
        stepped.advance();

        for (WeakReference<float[]> array : arrays) {
            assertLetGo(array, "the group, which is not closed yet, keeps it");
        }
        assertSame(engine, stepped.backend());
    }

    private static void assertLetGo(WeakReference<?> kept, String text) throws InterruptedException {
        for (int i = 0; i < 100 && kept.get() != null; i++) {
            System.gc();
            TimeUnit.MILLISECONDS.sleep(5);
        }
        assertNull(kept.get(), text);
    }

    private WeakReference<float[]> failing() {
        float[] array = {3, 5, 7};
        sum(HostTensor.of(array));
        stepped.advance();
        return new WeakReference<>(array);
    }

    private WeakReference<Operation> through(ProgressLock queue) {
        Operation operation = operation();
        assertTrue(queue.add(operation));
        assertSame(operation, queue.poll());
        return new WeakReference<>(operation);
    }

    private Operation operation() {
        return new Operation(new PendingWork(engine.parts().loop, "barrier", 0, LONG), null, null, null, null);
    }
}
