package ferro.recorder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What the stack of a thread says about the line of the program. */
class ThreadStackTest {
    private static final StackTraceElement[] SLEEPING = {
        frame("java.lang.Thread", "sleep0", "Thread.java", -2),
        frame("java.lang.Thread", "sleep", "Thread.java", 509),
        frame("java.util.concurrent.TimeUnit", "sleep", "TimeUnit.java", 446),
        frame("ferro.examples.Train", "step", "Train.java", 88),
        frame("java.util.List", "forEach", "List.java", 5),
        frame("ferro.examples.Train", "main", "Train.java", 9),
    };

    private static StackTraceElement frame(String className, String method, String file, int line) {
        return new StackTraceElement(className, method, file, line);
    }

    /** A thread whose stack is given, so that a test needs no frames outside of ferro's packages. */
    private static Thread at(StackTraceElement... stack) {
        return new Thread("main") {
            @Override
            public StackTraceElement[] getStackTrace() {
                return stack;
            }
        };
    }

    private static String location(StackTraceElement... stack) {
        return ThreadStack.of(at(stack), "", true).location();
    }

    @Test
    void theLocationIsTheTopFrameOfTheProgram() {
        assertEquals("ferro.examples.Train.step at Train.java:88 (sleeping)", location(SLEEPING));
        assertEquals("app.Train.load at Train.java:4 (running)", location(frame("app.Train", "load", "Train.java", 4)));
        assertEquals(
                "app.Train.load at Train.java:4 (in FileInputStream.read)",
                location(
                        frame("java.io.FileInputStream", "readBytes", "FileInputStream.java", -2),
                        frame("java.io.FileInputStream", "read", "FileInputStream.java", 287),
                        frame("app.Train", "load", "Train.java", 4)));
        assertEquals(
                "Train.main at Train.java:4 (in ProcessGroup.close)",
                location(
                        frame("ferro.collectives.engine.Closing", "close", "Closing.java", 1),
                        frame("ferro.group.ProcessGroup", "close", "ProcessGroup.java", 7),
                        frame("Train", "main", "Train.java", 4)));
        assertEquals("app.Train.run at native (running)", location(frame("app.Train", "run", "Train.java", -2)));
        assertEquals("app.Train.run at unknown source (running)", location(frame("app.Train", "run", null, -1)));
    }

    @Test
    void theLocationInACallIsItsLineWithoutState() {
        ThreadStack stack = ThreadStack.of(
                at(
                        frame("java.util.concurrent.locks.LockSupport", "parkNanos", "LockSupport.java", 1),
                        frame("ferro.group.ProcessGroup", "barrier", "ProcessGroup.java", 7),
                        frame("Train", "main", "Train.java", 4)),
                "world",
                false);
        assertEquals("Train.main at Train.java:4", stack.location());
        assertEquals("world", stack.group());
        assertFalse(stack.isJoining());
    }

    @Test
    void framesOfFerroTheJdkAndJUnitAreNotOfTheProgram() {
        for (String foreign : new String[] {
            "ferro.FerroException", "ferro.group.ProcessGroup", "ferro.control.group.RankLossJudge",
                    "ferro.training.Replica",
            "ferro.shaded.io.netty.channel.Channel", "java.lang.Thread", "jdk.internal.misc.Unsafe", "com.sun.proxy.A",
            "org.junit.jupiter.engine.Main", "app.Train$$Lambda$14/0x7f",
        }) {
            assertEquals("", location(frame(foreign, "run", "A.java", 3)), foreign);
        }
        for (String own : new String[] {
            "ferro.examples.Train", "ferro.benchmarks.Bench", "ferro.integration.Main", "ferroalloy.Main", "javafx.Main"
        }) {
            assertEquals(own + ".run at A.java:3 (running)", location(frame(own, "run", "A.java", 3)));
        }
    }

    @Test
    void aLongLocationKeepsItsEndWithoutControlCharacters() {
        String location = location(frame("a".repeat(300) + ".Train", "step\u001b", "Train.java", 88));
        assertEquals(ThreadStack.MAX_LOCATION, location.length());
        assertTrue(location.endsWith("a.Train.step? at Train.java:88 (running)"), location);
    }

    @Test
    void aLongLocationIsCutBetweenCharacters() {
        // each of these characters takes two chars, and four bytes of UTF-8
        String letter = Character.toString(0x1D44E);
        for (String method : new String[] {"s", "st", "ste", "step"}) {
            String location = location(frame(letter.repeat(100), method, "Train.java", 88));
            int bytes = location.getBytes(StandardCharsets.UTF_8).length;
            assertTrue(bytes > ThreadStack.MAX_LOCATION - 4 && bytes <= ThreadStack.MAX_LOCATION, location);
            assertTrue(location.startsWith(letter), location);
            assertTrue(location.endsWith(letter + "." + method + " at Train.java:88 (running)"), location);
        }
    }

    @Test
    void aFrameIsPrintedWithClassMethodFileAndLine() {
        ThreadStack stack = ThreadStack.of(at(SLEEPING), "", true);
        assertEquals("main", stack.thread());
        assertEquals("java.lang.Thread.sleep0(native)", stack.frames().get(0));
        assertEquals("ferro.examples.Train.step(Train.java:88)", stack.frames().get(3));
        assertEquals(SLEEPING.length, stack.frames().size());

        StackTraceElement[] deep = new StackTraceElement[1000];
        Arrays.fill(deep, SLEEPING[3]);
        assertEquals(256, ThreadStack.of(at(deep), "", true).frames().size());
    }

    @Test
    void aThreadThatWaitsForALockIsNotRunning() throws InterruptedException {
        Object lock = new Object();
        CountDownLatch begun = new CountDownLatch(1);
        Thread waiting =
                new Thread(() -> {
                    begun.countDown();
                    synchronized (lock) {
                        begun.getCount();
                    }
                }) {
                    @Override
                    public StackTraceElement[] getStackTrace() {
                        return new StackTraceElement[] {SLEEPING[3]};
                    }
                };
        synchronized (lock) {
            waiting.start();
            begun.await();
            while (waiting.getState() != Thread.State.BLOCKED) {
                Thread.onSpinWait();
            }
            assertEquals(
                    "ferro.examples.Train.step at Train.java:88 (waiting for a lock)",
                    ThreadStack.of(waiting, "", true).location());
        }
        waiting.join();
    }

    @Test
    void aThreadThatHasEndedHasNoFrames() throws InterruptedException {
        ThreadStack alive = ThreadStack.of(Thread.currentThread(), "", true);
        Thread thread = new Thread(() -> {}, "worker");
        thread.start();
        thread.join();
        ThreadStack gone = ThreadStack.of(thread, "", true);

        assertTrue(alive.isAlive(), alive.toString());
        assertFalse(gone.isAlive(), gone.toString());
        assertEquals("", gone.location());
        assertEquals("worker", gone.thread());
        assertFalse(ThreadStack.ended("worker").isAlive());
        assertTrue(ThreadStack.ended("worker").isJoining());
    }
}
