package ferro.backend.nccl.queue;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.control.failure.Failure;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;

/** The other half of a group in {@code cpu:tcp,cuda:nccl}: a failure of one half ends the other half on its rank. */
public record PairedHostMonitor(CollectiveBackend host) {
    /** Sequence of the other half's failures: the highest, so that for one failure of both this half's text is kept. */
    private static final long LAST = Long.MAX_VALUE;

    /** Begins to listen to failures of the other half. {@code fails} ends this half, and must not wait. */
    void listen(Consumer<Failure> fails) {
        host.onEvent(event -> {
            if (event.kind() == GroupEvent.Kind.FAILED) {
                fails.accept(failure()
                        .orElseGet(() -> new Failure(
                                Code.ABORTED, host.rank(), LAST, new TreeSet<>(event.ranks()), event.text(), null)));
            }
        });
    }

    private Optional<Failure> failure() {
        return host.failure()
                .map(known -> new Failure(
                        known.code(), host.rank(), LAST, known.where().culprits(), known.getMessage(), known));
    }

    /** Returns the failure of this half. An abort changes nothing if the other half has already failed. */
    public Failure judged(Failure why) {
        return why.code() == Code.ABORTED ? failure().orElse(why) : why;
    }

    /** Ends the other half with a failure of this half, unless it has already failed. Does not wait. */
    void fail(FerroException failure) {
        if (host.failure().isEmpty()) {
            host.abort(failure);
        }
    }
}
