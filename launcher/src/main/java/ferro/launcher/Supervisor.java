package ferro.launcher;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Waits for the ranks of a job: one loop, one thread, fed by a queue of events.
 *
 * <p>The first rank that ends badly ends the job: the others are sent TERM, and KILL after a grace. A signal sent to the
 * launcher goes on to all ranks; those that are left after a grace, or at the second one, are killed.
 */
final class Supervisor {
    private static final long NEVER = Long.MAX_VALUE;

    private final Map<Integer, Supervised> running = new TreeMap<>();
    private final Map<Integer, Supervised> undrained = new TreeMap<>();
    private final Set<Integer> stopped = new HashSet<>();
    private Optional<Long> stoppedNanos = Optional.empty();
    private final Map<Integer, Long> halted = new TreeMap<>();
    private final List<JobEvent.Ended> failures = new ArrayList<>();
    private final List<JobEvent.Ended> left = new ArrayList<>();
    private final BlockingQueue<JobEvent> events;
    private final Screen screen;
    private final Rules rules;
    private final Witness witness;
    private Optional<String> signal = Optional.empty();
    private int signals;
    private Optional<String> unshown = Optional.empty();
    private boolean joined;
    private boolean failureSeen;
    private Phase phase = Phase.RUNNING;
    private long phaseEndsNanos = NEVER;

    /** What happens when its time is over; it only ever goes down this list. */
    private enum Phase {
        /** All is well: for ever. */
        RUNNING,
        /** A rank has ended with exit code 2, and so will the others: then they are stopped. */
        LEAVING,
        /** A rank has failed, and the others find out and record who is to blame: then they are stopped. */
        NOTICING,
        /** They have been told to end: then they are killed. */
        STOPPING,
        /** They have been killed: then they are left to the system. */
        KILLED
    }

    /**
     * How long ranks get.
     *
     * @param leave           from the first rank's exit code 2 to TERM for those that have not read the same bad words
     * @param notice          from a rank's failure to TERM for the others, if they have joined a group: to find out and
     *     to record why
     * @param stop            from TERM to KILL when a rank has failed; with notice before and the kill behind it, all are
     *     gone within two seconds of the first failure
     * @param signal          from a signal passed on to KILL
     * @param giveUp          from KILL to the end of our wait: not even KILL ends a process that waits for a dead disk
     * @param saysWhatIsWrong whether exit code 2 means that rank 0 says why, and that all ranks end by themselves
     */
    record Rules(
            Duration leave, Duration notice, Duration stop, Duration signal, Duration giveUp, boolean saysWhatIsWrong) {
        private static final Duration NOTICE = Duration.ofMillis(500);
        private static final Duration STOP = Duration.ofSeconds(1);
        /** From a failure to the KILL of ranks that have joined. */
        static final Duration TO_THE_END = NOTICE.plus(STOP);

        static Rules of(JobSpec spec, Target target) {
            return new Rules(
                    Duration.ofSeconds(5),
                    NOTICE,
                    STOP,
                    spec.signalGrace(),
                    Duration.ofSeconds(5),
                    target.saysWhatIsWrong());
        }
    }

    /** Who else wants to know, at once. */
    interface Witness {
        void allJoined();

        /** A rank has failed, and neither the launcher nor a signal has ended it. */
        default void failed(JobEvent.Ended ended) {}

        /** What ranks print can no longer be shown here: they are stopped. */
        default void unshown() {}
    }

    Supervisor(BlockingQueue<JobEvent> events, Screen screen, Rules rules, Witness witness) {
        this.events = events;
        this.screen = screen;
        this.rules = rules;
        this.witness = witness;
    }

    /**
     * How a job ended.
     *
     * @param failures ranks that ended badly, in the order in which they did
     * @param left     ranks that ended well by themselves, before the first of them or after it
     * @param stopped  ranks that were told to end because of a failure
     * @param stoppedNanos when they were told, by {@link System#nanoTime}; empty if none was
     * @param halted   ranks that stood still, stopped by a signal, when the first failed, with their pids
     * @param signal   what ended the job from outside
     * @param unshown  why the job was stopped although no rank failed
     */
    record Outcome(
            List<JobEvent.Ended> failures,
            List<JobEvent.Ended> left,
            Set<Integer> stopped,
            Optional<Long> stoppedNanos,
            Map<Integer, Long> halted,
            Optional<String> signal,
            Optional<String> unshown) {}

    /** Returns when every rank has ended and all that they printed has been shown. */
    Outcome await(List<? extends Supervised> ranks) throws InterruptedException {
        for (Supervised rank : ranks) {
            running.put(rank.rank(), rank);
            undrained.put(rank.rank(), rank);
        }
        boolean lost = false;
        while (!undrained.isEmpty() && !lost) {
            JobEvent event = next();
            if (event != null) {
                handle(event);
            } else {
                lost = phase == Phase.KILLED;
                next(phase);
            }
        }
        undrained
                .values()
                .forEach(rank -> screen.note("rank " + rank.rank() + ", pid " + rank.pid()
                        + ", does not end even by KILL: it is left to the system"));
        return new Outcome(failures, left, stopped, stoppedNanos, halted, signal, unshown);
    }

    /** Returns the next event, or null if this phase is over; events that have come already are first. */
    private JobEvent next() throws InterruptedException {
        return phaseEndsNanos == NEVER
                ? events.take()
                : events.poll(phaseEndsNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    private void handle(JobEvent event) {
        if (event instanceof JobEvent.Ended ended) {
            running.remove(ended.rank());
            if (ended.code() != 0) {
                failed(ended);
            } else if (!stopped.contains(ended.rank())) {
                left.add(ended);
            }
        } else if (event instanceof JobEvent.Drained drained) {
            undrained.remove(drained.rank());
        } else if (event instanceof JobEvent.Signalled signalled) {
            forward(signalled);
        } else if (event instanceof JobEvent.FailedElsewhere elsewhere) {
            end(elsewhere.code());
        } else if (event instanceof JobEvent.OutputClosed closed) {
            if (unshown.isEmpty()) {
                unshown = Optional.of(closed.why());
                witness.unshown();
            }
            stop();
        } else if (event instanceof JobEvent.Joined) {
            joined = true;
            witness.allJoined();
        }
    }

    private void failed(JobEvent.Ended ended) {
        failures.add(ended);
        if (!stopped.contains(ended.rank()) && signal.isEmpty()) {
            witness.failed(ended);
        }
        end(ended.code());
    }

    /** A rank, here or elsewhere, has failed with this exit code. */
    private void end(int code) {
        if (!failureSeen) {
            failureSeen = true;
            running.values().stream().filter(Supervised::isHalted).forEach(rank -> halted.put(rank.rank(), rank.pid()));
        }
        if (rules.saysWhatIsWrong() && code == ExitCode.BAD_INPUT) {
            if (phase == Phase.RUNNING) {
                enter(Phase.LEAVING, rules.leave());
            }
        } else if (!joined) {
            stop();
        } else if (phase.compareTo(Phase.NOTICING) < 0) {
            enter(Phase.NOTICING, rules.notice());
        }
    }

    private void next(Phase over) {
        if (over == Phase.LEAVING || over == Phase.NOTICING) {
            stop();
        } else if (over == Phase.STOPPING) {
            signal.filter(name -> !running.isEmpty())
                    .ifPresent(name -> screen.note("ranks " + running.keySet() + " have not ended "
                            + rules.signal().toMillis() + " ms after signal " + name + ": they are killed"));
            kill();
        }
    }

    /** Once only: a rank that ends while it is being stopped is what we wait for. */
    private void stop() {
        if (phase.compareTo(Phase.STOPPING) < 0) {
            enter(Phase.STOPPING, rules.stop());
            stopped.addAll(running.keySet());
            stoppedNanos = Optional.of(System.nanoTime());
            running.values().forEach(rank -> rank.signal("TERM"));
        }
    }

    private void kill() {
        if (phase != Phase.KILLED) {
            enter(Phase.KILLED, rules.giveUp());
            running.values().forEach(rank -> rank.signal("KILL"));
        }
    }

    /** The same signal may have come to the launchers of several nodes: it is the second one where one has had two. */
    private void forward(JobEvent.Signalled signalled) {
        String name = signalled.name();
        if (signalled.times() <= signals) {
            return;
        }
        signals = signalled.times();
        if (phase.compareTo(Phase.STOPPING) >= 0) {
            kill();
            return;
        }
        signal = Optional.of(name);
        enter(Phase.STOPPING, rules.signal());
        running.values().forEach(rank -> rank.signal(name));
        screen.note("signal " + name + " goes on to all ranks: what has not ended after "
                + rules.signal().toMillis() + " ms, or at a second signal, is killed");
    }

    private void enter(Phase entered, Duration lasts) {
        phase = entered;
        phaseEndsNanos = System.nanoTime() + lasts.toNanos();
    }
}
