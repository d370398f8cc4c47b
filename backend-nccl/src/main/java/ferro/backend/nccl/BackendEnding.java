package ferro.backend.nccl;

import ferro.FerroException.Code;
import java.time.Duration;

/**
 * The end of a {@link JnaNcclBackend}, which it does not refer to: a back end that was forgotten ends in the same way.
 *
 * @param member what is given back
 * @param queue  what is emptied first
 * @param stage  freed after the streams that use it
 */
record BackendEnding(NcclMember member, WorkQueue queue, HostStage stage) {
    static final Duration BOUND = Duration.ofSeconds(5);
    private static final Duration SETTLE_BOUND = Duration.ofSeconds(15);
    /** Even a close without time gives the communicator this much before it is aborted. */
    private static final long LEAST_NANOS = 100_000_000;

    void close() {
        close(BOUND);
    }

    /** Closes; the first call does it, the others do nothing. */
    void close(Duration timeout) {
        if (!queue.beginClose()) {
            return;
        }
        Deadline bound = queue.deadline(timeout);
        if (!queue.awaitEmpty(bound)) {
            String rank = Integer.toString(queue.place().rank());
            String text = "rank " + rank + " closed the group with work that had not ended after "
                    + bound.lengthMillis() + " ms";
            queue.fail(new GroupFailure(Code.ABORTED, rank, text, null));
        }
        if (queue.failure() == null) {
            queue.goodbye();
        } else {
            queue.awaitSettled(queue.deadline(SETTLE_BOUND));
        }
        member.comm().close(Duration.ofNanos(Math.max(LEAST_NANOS, bound.remainingNanos())));
        queue.end();
        if (!queue.hasAbandoned()) {
            stage.close();
        }
        member.release();
    }
}
