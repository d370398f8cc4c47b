package ferro.launcher;

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
 * launcher goes on to all ranks; the second one kills them.
 */
final class Supervisor {
    /** With the kill behind it, all are gone within two seconds of the first failure. */
    private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(1_000);
    /** Not even KILL ends a process that waits for a dead disk. */
    private static final long GIVE_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(5_000);

    private static final long NEVER = Long.MAX_VALUE;

    private final Map<Integer, RankProcess> running = new TreeMap<>();
    private final Map<Integer, RankProcess> undrained = new TreeMap<>();
    private final Set<Integer> stopped = new HashSet<>();
    private final List<JobEvent.Ended> failures = new ArrayList<>();
    private final BlockingQueue<JobEvent> events;
    private final Screen screen;
    private final Runnable allJoined;
    private Optional<String> signal = Optional.empty();
    private Optional<String> unshown = Optional.empty();
    private long killAtNanos = NEVER;
    private long giveUpAtNanos = NEVER;

    Supervisor(BlockingQueue<JobEvent> events, Screen screen, Runnable allJoined) {
        this.events = events;
        this.screen = screen;
        this.allJoined = allJoined;
    }

    /** How a job ended. */
    record Outcome(
            List<JobEvent.Ended> failures, Set<Integer> stopped, Optional<String> signal, Optional<String> unshown) {}

    /** Returns when every rank has ended and all that they printed has been shown. */
    Outcome await(List<RankProcess> ranks) throws InterruptedException {
        for (RankProcess rank : ranks) {
            running.put(rank.rank(), rank);
            undrained.put(rank.rank(), rank);
        }
        while (!undrained.isEmpty() && System.nanoTime() - giveUpAtNanos < 0) {
            JobEvent event = next();
            if (event != null) {
                handle(event);
            } else if (killAtNanos != NEVER) {
                kill();
            }
        }
        undrained
                .values()
                .forEach(rank -> screen.note("rank " + rank.rank() + ", pid " + rank.pid()
                        + ", does not end even by KILL: it is left to the system"));
        return new Outcome(failures, stopped, signal, unshown);
    }

    /** Returns the next event, or null if it is time to kill. */
    private JobEvent next() throws InterruptedException {
        long deadline = Math.min(killAtNanos, giveUpAtNanos);
        return deadline == NEVER ? events.take() : events.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    private void handle(JobEvent event) {
        if (event instanceof JobEvent.Ended ended) {
            running.remove(ended.rank());
            if (ended.code() != 0) {
                failed(ended);
            }
        } else if (event instanceof JobEvent.Drained drained) {
            undrained.remove(drained.rank());
        } else if (event instanceof JobEvent.Signalled signalled) {
            forward(signalled.name());
        } else if (event instanceof JobEvent.OutputClosed closed) {
            unshown = unshown.or(() -> Optional.of(closed.why()));
            stop();
        } else if (event instanceof JobEvent.Joined) {
            allJoined.run();
        }
    }

    private void failed(JobEvent.Ended ended) {
        failures.add(ended);
        if (signal.isEmpty()) {
            stop();
        }
    }

    private void stop() {
        if (killAtNanos == NEVER) {
            killAtNanos = System.nanoTime() + GRACE_NANOS;
            stopped.addAll(running.keySet());
            running.values().forEach(rank -> rank.signal("TERM"));
        }
    }

    private void kill() {
        killAtNanos = NEVER;
        giveUpAtNanos = System.nanoTime() + GIVE_UP_NANOS;
        running.values().forEach(rank -> rank.signal("KILL"));
    }

    private void forward(String name) {
        if (signal.isPresent() || !stopped.isEmpty()) {
            kill();
            return;
        }
        signal = Optional.of(name);
        running.values().forEach(rank -> rank.signal(name));
    }
}
