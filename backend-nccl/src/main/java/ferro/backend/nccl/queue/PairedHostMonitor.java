package ferro.backend.nccl.queue;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.control.failure.Failure;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The half for host tensors of a group with {@code cpu:tcp,cuda:nccl}. A failure of one half ends the other half on its
 * rank.
 */
public record PairedHostMonitor(CollectiveBackend host) {
    /**
     * Sequence number for failures of the host half: the highest, so that the NCCL half's text is used for a common
     * failure.
     */
    private static final long LAST = Long.MAX_VALUE;

    /** Begins to listen to failures of the host half. {@code fails} ends the NCCL half, and must not wait. */
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

    /**
     * Returns the failure to report for the NCCL half. For an abort, this is the host half's failure, if there is one.
     */
    public Failure judged(Failure why) {
        return why.code() == Code.ABORTED ? failure().orElse(why) : why;
    }

    /** Ends the host half with a failure of the NCCL half, unless the host half has already failed. Does not wait. */
    void fail(FerroException failure) {
        if (host.failure().isEmpty()) {
            host.abort(failure);
        }
    }
}
