package ferro.recorder;

import ferro.FerroException.Code;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A group that fails when a test says so. */
final class GroupOfTest implements RecordedGroup {
    volatile Failed failure;
    volatile RecordedStatus status = RecordedStatus.IDLE;
    volatile long identity;
    volatile List<ThreadStack> stacks = List.of();
    /** Thrown once by whoever asks where it stands. */
    volatile Error broken;

    final CountDownLatch thrown = new CountDownLatch(1);

    void fail(Code code, Collection<Integer> culprits, String text) {
        failure = Failed.of(code, 0, 17, culprits, 0, text);
    }

    @Override
    public Failed failure() {
        return failure;
    }

    @Override
    public long identity() {
        return identity;
    }

    @Override
    public RecordedStatus status() {
        Error error = broken;
        if (error != null) {
            broken = null;
            thrown.countDown();
            throw error;
        }
        return status;
    }

    @Override
    public List<ThreadStack> stacks() {
        return stacks;
    }
}
