package ferro.backend.simulated;

import ferro.Work;
import ferro.group.ProcessGroup;

/** A rank gives up, as it does when its own code throws. */
final class Abort implements Op {
    @Override
    public Work submit(ProcessGroup group) {
        group.abort(new IllegalStateException("the program of rank " + group.rank() + " failed"));
        return null;
    }

    @Override
    public boolean isInOrder() {
        return false;
    }

    @Override
    public String wrongOn(int rank) {
        return null;
    }

    @Override
    public void reuseMemoryOf(int rank) {
        // it has none
    }

    @Override
    public boolean isTouchedOn(int rank) {
        return false;
    }
}
