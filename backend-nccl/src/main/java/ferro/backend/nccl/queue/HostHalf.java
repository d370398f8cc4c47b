package ferro.backend.nccl.queue;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.control.failure.Failure;
import ferro.control.wire.RankLists;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The other half of a group in {@code cpu:tcp,cuda:nccl}. Its control channel reports a failure of this rank to all
 * ranks, and failures of the others to this rank.
 *
 * <p>NCCL reports that some rank is lost, but not which. The other half finds the rank a moment later. So a failure
 * that names no rank waits for this information before it is reported.
 */
public final class HostHalf {
    /** The exit of a rank is seen in some 20 ms on one host; elsewhere its sockets close 200 ms per GiB later. */
    private static final long VERDICT_NANOS = 250_000_000;

    private static final long LOOK_NANOS = 1_000_000;

    private final CollectiveBackend host;
    private final int self;
    private final LongSupplier clock;
    /** Ranks from which the other half has heard nothing for a while; guarded by itself. */
    private final TreeSet<Integer> silent = new TreeSet<>();

    /** Wraps the back end for host tensors; {@link #listen} connects it. */
    public HostHalf(CollectiveBackend host, LongSupplier clock) {
        this.host = host;
        this.self = host.rank();
        this.clock = clock;
    }

    /** Begins to listen to events of the other half. {@code fails} ends this half, and must not wait. */
    void listen(Consumer<Failure> fails) {
        host.onEvent(event -> heard(event, fails));
    }

    private void heard(GroupEvent event, Consumer<Failure> fails) {
        switch (event.kind()) {
            case FAILED ->
                fails.accept(verdict()
                        .orElseGet(() ->
                                new Failure(Code.ABORTED, self, -1, new TreeSet<>(event.ranks()), event.text(), null)));
            case SUSPECTED -> silent(event, true);
            case RECOVERED -> silent(event, false);
            default -> {
                // not needed here
            }
        }
    }

    private void silent(GroupEvent event, boolean is) {
        synchronized (silent) {
            if (is) {
                silent.addAll(event.ranks());
            } else {
                event.ranks().forEach(silent::remove);
            }
        }
    }

    private Optional<Failure> verdict() {
        return host.failure().map(known -> NcclFailures.of(known, self));
    }

    /**
     * Returns the failure that this half reports. A failure that names no rank gets the ranks that the other half
     * knows. An abort changes nothing if the other half already has a failure.
     *
     * @param why     own failure
     * @param settled whether another failure came first, so that this one does not matter
     */
    public Failure judged(Failure why, BooleanSupplier settled) {
        if (why.code() == Code.ABORTED) {
            return verdict().orElse(why);
        }
        if (!why.culprits().isEmpty()) {
            return why;
        }
        if (why.code() == Code.TIMED_OUT) {
            return blamingTheSilent(why);
        }
        long begun = clock.getAsLong();
        while (why.code() == Code.NATIVE && !settled.getAsBoolean() && clock.getAsLong() - begun < VERDICT_NANOS) {
            Optional<Failure> verdict = verdict();
            if (verdict.isPresent()) {
                return verdict.get();
            }
            pause();
        }
        return why;
    }

    private Failure blamingTheSilent(Failure why) {
        Set<Integer> names;
        synchronized (silent) {
            names = new TreeSet<>(silent);
        }
        String text = names.isEmpty()
                ? why.text()
                : why.text() + "; no answer from " + RankLists.ranks(RankLists.list(names));
        return new Failure(why.code(), why.origin(), why.sequence(), names, text, why.cause());
    }

    private static void pause() {
        boolean interrupted = Thread.interrupted();
        try {
            TimeUnit.NANOSECONDS.sleep(LOOK_NANOS);
        } catch (InterruptedException again) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Asks the other half which ranks are silent. Waits for the answers. */
    Set<Integer> silentRanks(Duration within) {
        return host.silentRanks(within);
    }

    /** Ends the other half with a failure of this one, on all ranks. */
    void tell(FerroException failure) {
        host.abort(failure);
    }
}
