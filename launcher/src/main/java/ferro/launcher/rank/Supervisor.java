package ferro.launcher.rank;

import ferro.launcher.input.ExitCode;
import ferro.launcher.input.JobSpec;
import ferro.launcher.output.Screen;
import ferro.launcher.program.LaunchTarget;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The loop that waits for the ranks of a job, on one thread that takes events from a queue.
 *
 * <p>The first rank that fails ends the job. The other ranks receive TERM, and KILL after a grace time. A signal that
 * the launcher receives is forwarded to all ranks. After a signal that requests the end, the remaining ranks are killed
 * when the grace time is over, or at a second signal.
 */
public final class Supervisor {
    private static final long NEVER = Long.MAX_VALUE;
    /** The signal of ctrl-Z. */
    private static final String STOP_KEY = "TSTP";

    private static final int KILLED = ExitCode.ofSignal("KILL");

    private static final JobEvent GO_ON = new JobEvent.SignalEvent("CONT");
    /** Time that the signal handlers of ranks get at ctrl-Z before ranks are suspended. */
    private static final long STOP_KEY_MILLIS = 300;

    private final Map<Integer, SupervisedRank> running = new TreeMap<>();
    private final Map<Integer, SupervisedRank> undrained = new TreeMap<>();
    private final Set<Integer> stopped = new HashSet<>();
    /** Ranks that have ended without a stop by the launcher, and whose output is still being read. */
    private final Map<Integer, JobEvent.RankEndEvent> untold = new HashMap<>();

    private Long stoppedNanos;
    private final Map<Integer, Long> halted = new TreeMap<>();
    private final Map<String, Set<Integer>> passed = new TreeMap<>();
    private final List<JobEvent.RankEndEvent> failures = new ArrayList<>();
    private final List<JobEvent.RankEndEvent> left = new ArrayList<>();
    private final BlockingQueue<JobEvent> events;
    private final Screen screen;
    private final StopTimeouts rules;
    private final JobEventListener witness;
    private String signal;
    private int signals;
    private String unshown;
    private boolean joined;
    private Long heardNanos;
    private StopPhase phase = StopPhase.RUNNING;
    private long phaseEndsNanos = NEVER;

    /** The phases of stopping a job, in their order. A phase may have a time limit. A job never returns to a phase. */
    private enum StopPhase {
        /** No failure and no signal has occurred. This phase has no time limit. */
        RUNNING,
        /** A rank has ended with exit code 2, and the other ranks will do the same. Next, the ranks are stopped. */
        LEAVING,
        /** A rank has failed, and the other ranks record the rank to blame. Next, the ranks are stopped. */
        NOTICING,
        /** The ranks have received TERM or another signal that ends them. Next, the ranks are killed. */
        STOPPING,
        /** The ranks have been killed. After this phase, the launcher no longer waits for ranks. */
        KILLED
    }

    /**
     * The time limits for ranks that have to end.
     *
     * @param leave           time from exit code 2 of the first rank to TERM for ranks that have not ended by bad input
     * @param notice          time from the failure of a rank to TERM for the other ranks, if these have joined a group,
     *     so that the other ranks detect and record the failure
     * @param stop            time from TERM to KILL when a rank has failed; with {@code notice} and the time of the
     *     kill, all ranks end within two seconds of the first failure
     * @param signal          time from the forwarding of a signal to KILL
     * @param giveUp          time from KILL to the end of the wait, because KILL does not end a process that waits for
     *     a dead disk
     * @param saysWhatIsWrong whether exit code 2 means that rank 0 prints why and that all ranks end by themselves
     */
    public record StopTimeouts(
            Duration leave, Duration notice, Duration stop, Duration signal, Duration giveUp, boolean saysWhatIsWrong) {
        private static final Duration NOTICE = Duration.ofMillis(500);
        private static final Duration STOP = Duration.ofSeconds(1);
        /** Time from a failure to the KILL of ranks that have joined. */
        public static final Duration TO_THE_END = NOTICE.plus(STOP);

        /** Returns the limits for a job and its program. */
        public static StopTimeouts of(JobSpec spec, LaunchTarget target) {
            return new StopTimeouts(
                    Duration.ofSeconds(5),
                    NOTICE,
                    STOP,
                    spec.signalGrace(),
                    Duration.ofSeconds(5),
                    target.saysWhatIsWrong());
        }
    }

    /** A listener that receives events of the job immediately. */
    public interface JobEventListener {
        /** Reports that all ranks have joined. */
        void allJoined();

        /** Reports that a rank has failed that neither the launcher nor a signal has ended. */
        void failed(JobEvent.RankEndEvent ended);

        /** Reports that a rank that the launcher has not stopped has ended, and that its output has been read. */
        void ended(JobEvent.RankEndEvent ended);

        /** Reports that this node can no longer show the output of its ranks. The ranks are stopped. */
        void unshown();

        /** Suspends this launcher after all ranks were suspended. Returns when this launcher is resumed. */
        void standStill() throws InterruptedException;
    }

    /** Creates a supervisor of ranks. Events in the queue report the ends of the ranks. */
    public Supervisor(BlockingQueue<JobEvent> events, Screen screen, StopTimeouts rules, JobEventListener witness) {
        this.events = events;
        this.screen = screen;
        this.rules = rules;
        this.witness = witness;
    }

    /**
     * The end of a job on this node.
     *
     * @param failures     ranks that failed, in the order of their ends
     * @param left         ranks that ended with exit code 0 without being stopped, before or after the first failure
     * @param stopped      ranks that were sent TERM after a failure, or because output could not be shown
     * @param stoppedNanos {@link System#nanoTime} when ranks were stopped or received the signal; null if neither
     *     happened
     * @param halted       ranks that were suspended by a signal or traced when the first rank failed, with the pids of
     *     the ranks
     * @param signal       signal that ended the job from outside; null if no signal ended the job
     * @param unshown      why the job was stopped although no rank failed; null if no such stop occurred
     * @param passed       forwarded signals that do not request the end, with the ranks that received them
     * @param heardNanos   time at which this launcher received the first failure, of its own or another node; null
     *     without a failure. A launcher ends no rank before this moment
     */
    public record JobOutcome(
            List<JobEvent.RankEndEvent> failures,
            List<JobEvent.RankEndEvent> left,
            Set<Integer> stopped,
            Long stoppedNanos,
            Map<Integer, Long> halted,
            String signal,
            String unshown,
            Map<String, Set<Integer>> passed,
            Long heardNanos) {}

    /** Waits until every rank has ended and all output of the ranks has been shown. */
    public JobOutcome await(List<? extends SupervisedRank> ranks) throws InterruptedException {
        for (SupervisedRank rank : ranks) {
            running.put(rank.rank(), rank);
            undrained.put(rank.rank(), rank);
        }
        boolean lost = false;
        while (!undrained.isEmpty() && !lost) {
            JobEvent event = next();
            if (event != null) {
                handle(event);
            } else {
                lost = phase == StopPhase.KILLED;
                next(phase);
            }
        }
        undrained.values().forEach(rank -> screen.note(lost(rank)));
        return new JobOutcome(failures, left, stopped, stoppedNanos, halted, signal, unshown, passed, heardNanos);
    }

    private String lost(SupervisedRank rank) {
        return running.containsKey(rank.rank())
                ? "rank " + rank.rank() + ", pid " + rank.pid()
                        + ", did not end after signal KILL: the launcher no longer waits for it"
                : "rank " + rank.rank() + " has ended, but its last output was not read in time and is not shown";
    }

    /**
     * Returns the next event, or null at the time limit of the phase. Events in the queue come first. The time limits
     * apply only while ranks run. When no rank runs, a slow reader may delay the output, and only a signal ends the
     * wait for the reader.
     */
    private JobEvent next() throws InterruptedException {
        boolean onlyOutput = running.isEmpty() && signals == 0;
        return phaseEndsNanos == NEVER || onlyOutput
                ? events.take()
                : events.poll(phaseEndsNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    private void handle(JobEvent event) throws InterruptedException {
        if (event instanceof JobEvent.RankEndEvent ended) {
            running.remove(ended.rank());
            if (ended.code() != KILLED) {
                // only KILL ends a suspended process, so a signal has resumed this rank before it ended
                halted.remove(ended.rank());
            }
            if (!stopped.contains(ended.rank()) && signal == null) {
                untold.put(ended.rank(), ended);
            }
            if (ended.code() != 0) {
                failed(ended);
            } else if (!stopped.contains(ended.rank())) {
                left.add(ended);
            }
            if (running.isEmpty() && signals > 0) {
                enter(StopPhase.KILLED, rules.giveUp());
            }
        } else if (event instanceof JobEvent.OutputReadEvent read) {
            JobEvent.RankEndEvent ended = untold.remove(read.rank());
            if (ended != null) {
                witness.ended(ended);
            }
        } else if (event instanceof JobEvent.DrainEvent drained) {
            undrained.remove(drained.rank());
        } else if (event instanceof JobEvent.StopSignalEvent signalled) {
            forward(signalled);
        } else if (event instanceof JobEvent.SignalEvent one) {
            pass(one.name());
        } else if (event instanceof JobEvent.RemoteFailureEvent elsewhere) {
            end(elsewhere.code(), elsewhere.atNanos());
        } else if (event instanceof JobEvent.OutputClosedEvent closed) {
            if (unshown == null) {
                unshown = closed.why();
                witness.unshown();
            }
            stop();
        } else if (event instanceof JobEvent.AllJoinedEvent) {
            joined = true;
            witness.allJoined();
        }
    }

    private void failed(JobEvent.RankEndEvent ended) {
        failures.add(ended);
        if (!stopped.contains(ended.rank()) && signal == null) {
            witness.failed(ended);
        }
        end(ended.code(), ended.atNanos());
    }

    /** Starts to end the job after a rank of any node has failed with the given exit code. */
    private void end(int code, long atNanos) {
        if (heardNanos == null) {
            heardNanos = atNanos;
            running.values().stream()
                    .filter(SupervisedRank::isHalted)
                    .forEach(rank -> halted.put(rank.rank(), rank.pid()));
        }
        if (rules.saysWhatIsWrong() && code == ExitCode.BAD_INPUT) {
            if (phase == StopPhase.RUNNING) {
                enter(StopPhase.LEAVING, rules.leave());
            }
        } else if (!joined) {
            stop();
        } else if (phase.compareTo(StopPhase.NOTICING) < 0) {
            enter(StopPhase.NOTICING, rules.notice());
        }
    }

    private void next(StopPhase over) {
        if (over == StopPhase.LEAVING || over == StopPhase.NOTICING) {
            stop();
        } else if (over == StopPhase.STOPPING) {
            if (signal != null && !running.isEmpty()) {
                screen.note("ranks " + running.keySet() + " have not ended "
                        + rules.signal().toMillis() + " ms after signal " + signal + ": they are killed");
            }
            kill();
        }
    }

    /** Stops the ranks. A second call has no effect, because ranks are expected to end while they are stopped. */
    private void stop() {
        if (phase.compareTo(StopPhase.STOPPING) < 0) {
            enter(StopPhase.STOPPING, rules.stop());
            stopped.addAll(running.keySet());
            stoppedNanos = System.nanoTime();
            running.values().forEach(rank -> rank.signal("TERM"));
        }
    }

    private void kill() {
        if (phase != StopPhase.KILLED) {
            enter(StopPhase.KILLED, rules.giveUp());
            running.values().forEach(rank -> rank.signal("KILL"));
        }
    }

    /**
     * Forwards a signal to the ranks. The launchers of several nodes may have received the same signal. Therefore a
     * signal is the second signal only if one launcher has received two signals.
     */
    private void forward(JobEvent.StopSignalEvent signalled) {
        String name = signalled.name();
        if (signalled.times() <= signals) {
            return;
        }
        boolean first = signals == 0;
        signals = signalled.times();
        if (running.isEmpty()) {
            endOutput(name, first ? rules.giveUp() : Duration.ZERO);
            return;
        }
        if (phase.compareTo(StopPhase.STOPPING) >= 0) {
            kill();
            return;
        }
        signal = name;
        stoppedNanos = System.nanoTime();
        enter(StopPhase.STOPPING, rules.signal());
        running.values().forEach(rank -> rank.signal(name));
        screen.note("signal " + name + " is passed on to all ranks: ranks that have not ended after "
                + rules.signal().toMillis() + " ms, or at a second signal, are killed");
    }

    /** Forwards a signal that does not request the end. TSTP also suspends the ranks and the launcher. */
    private void pass(String name) throws InterruptedException {
        passed.computeIfAbsent(name, first -> new TreeSet<>()).addAll(running.keySet());
        running.values().forEach(rank -> rank.signal(name));
        if (!name.equals(STOP_KEY)) {
            screen.note("signal " + name + " is passed on to all ranks here");
            return;
        }
        // TSTP alone suspends no rank, because no shell controls the process group of a rank
        TimeUnit.MILLISECONDS.sleep(STOP_KEY_MILLIS);
        if (!events.contains(GO_ON)) {
            screen.note(
                    "signal TSTP: all ranks here and their launcher are suspended until the launcher receives CONT");
            running.values().forEach(rank -> rank.signal("STOP"));
            witness.standStill();
            passContinued();
        }
    }

    /**
     * Forwards the CONT that has resumed this process. The JVM reports each signal on a separate thread. Therefore the
     * event of the CONT may come after the event of a later TSTP. The CONT must not cancel this TSTP.
     */
    private void passContinued() throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        while (System.nanoTime() - end < 0) {
            if (events.remove(GO_ON)) {
                pass("CONT");
                return;
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    /** Handles a signal when only output for a slow reader is left. Waits a limited time for this output. */
    private void endOutput(String name, Duration most) {
        if (phase.compareTo(StopPhase.STOPPING) < 0) {
            signal = name;
        }
        enter(StopPhase.KILLED, most);
        screen.note("signal " + name + ": all ranks have ended; the launcher waits " + most.toMillis()
                + " ms more for their unread output");
    }

    private void enter(StopPhase entered, Duration lasts) {
        phase = entered;
        phaseEndsNanos = System.nanoTime() + lasts.toNanos();
    }
}
