package ferro.launcher.rank;

import ferro.launcher.input.DebuggedRanks;
import ferro.launcher.output.LastLines;
import ferro.launcher.output.RankLogFolder;
import ferro.launcher.output.RankOutput;
import ferro.launcher.output.RankStreamReader;
import ferro.launcher.output.RankStreamReader.StreamTargets;
import ferro.launcher.output.Screen;
import ferro.spi.LinuxFiles;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;

/** One rank of the job: the process with a guard shell, its two streams, and the thread that waits for its end. */
public final class RankProcess implements SupervisedRank {
    /** Shortest wait between two checks of a stream, in milliseconds. */
    private static final long LEAST_MILLIS = 20;

    private final int rank;
    private final Process process;
    private final LastLines tail = new LastLines();
    private final JobResources shared;

    /**
     * The objects that all ranks of a job share.
     *
     * @param guard    starts ranks with a guard shell
     * @param screen   shows the output of ranks
     * @param log      receives copies of the output
     * @param events   queue for events of ranks
     * @param debugged ranks that wait for a debugger
     */
    public record JobResources(
            ChildProcessGuard guard,
            Screen screen,
            RankLogFolder log,
            BlockingQueue<JobEvent> events,
            DebuggedRanks debugged) {}

    private record RunningReader(RankStreamReader stream, Thread thread) {}

    private RankProcess(int rank, Process process, JobResources shared) {
        this.rank = rank;
        this.process = process;
        this.shared = shared;
    }

    /** Starts the process of a rank. The end of the process becomes an event. */
    public static RankProcess start(
            int rank, List<String> command, Map<String, String> environment, JobResources shared) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(shared.guard().wrap(command));
        if (!shared.guard().holds()) {
            builder.redirectInput(Redirect.from(new File("/dev/null")));
        }
        Map<String, String> variables = builder.environment();
        variables.keySet().retainAll(environment.keySet());
        // a variable that does not change keeps its bytes, which may be invalid text
        environment.forEach((name, value) -> {
            if (!value.equals(variables.get(name))) {
                variables.put(name, value);
            }
        });
        OutputStream out = shared.log().open(rank, Screen.StreamName.OUT);
        OutputStream err = shared.log().open(rank, Screen.StreamName.ERR);
        RankProcess started = new RankProcess(rank, builder.start(), shared);
        List<RunningReader> pumps =
                List.of(started.pump(Screen.StreamName.OUT, out), started.pump(Screen.StreamName.ERR, err));
        started.daemon(() -> started.awaitEnd(pumps), "end");
        return started;
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public long pid() {
        return process.pid();
    }

    /** Returns the rank's output. The trace is empty if no exception ended the rank, or if the program is not Java. */
    public RankOutput output() {
        return new RankOutput(rank, pid(), tail.trace(), tail.lines());
    }

    @Override
    public boolean isHalted() {
        try {
            // state T is stopped, t is traced
            return "Tt".indexOf(LinuxFiles.HOST.stat("" + pid()).state()) >= 0;
        } catch (IOException | IllegalArgumentException unknown) {
            // this system does not have the file, or the process has just ended
            return false;
        }
    }

    @Override
    public void signal(String name) {
        shared.guard.signal(process, name);
    }

    private RunningReader pump(Screen.StreamName name, OutputStream log) {
        Consumer<IOException> closed = failure -> shared.events.add(new JobEvent.OutputClosedEvent("" + failure));
        StreamTargets ties = new StreamTargets(rank, name, shared.screen, log, tail, shared.debugged, closed);
        InputStream source = name == Screen.StreamName.OUT ? process.getInputStream() : process.getErrorStream();
        RankStreamReader stream = new RankStreamReader(source, ties);
        // after the process has ended, the JDK closes this stream once its lock is free, even if a child still writes
        Runnable reading = () -> {
            synchronized (source) {
                stream.run();
            }
        };
        return new RunningReader(stream, daemon(reading, name.name()));
    }

    private void awaitEnd(List<RunningReader> pumps) {
        try {
            shared.events.add(new JobEvent.RankEndEvent(rank, process.waitFor(), System.nanoTime()));
            drain(pumps);
            shared.events.add(new JobEvent.OutputReadEvent(rank));
            shared.guard.release(process);
            drain(pumps);
        } catch (InterruptedException | IOException unexpected) {
            // this thread is not interrupted, and no more is written to the guard shell, which ends with the launcher
            Thread.currentThread().interrupt();
        }
        shared.events.add(new JobEvent.DrainEvent(rank));
    }

    /** Waits for the ends of the streams. For a child that keeps a stream open, waits only a limited time. */
    private static void drain(List<RunningReader> pumps) throws InterruptedException {
        pumps.forEach(pump -> pump.stream().awaitRest());
        for (RunningReader pump : pumps) {
            long left = pump.stream().patienceMillis();
            while (pump.thread().isAlive() && left > 0) {
                pump.thread().join(Math.max(left, LEAST_MILLIS));
                left = pump.stream().patienceMillis();
            }
        }
    }

    private Thread daemon(Runnable work, String role) {
        Thread thread = new Thread(work, "ferro-launcher-" + rank + "-" + role);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
