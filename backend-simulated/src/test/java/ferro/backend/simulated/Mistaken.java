package ferro.backend.simulated;

import ferro.Work;
import ferro.group.ProcessGroup;

/** A call that one rank makes where the others make another: it must fail, unless this rank needs nobody's data. */
final class Mistaken implements Op {
    private final Call call;
    private final int culprit;

    Mistaken(Call call, int culprit) {
        this.call = call;
        this.culprit = culprit;
    }

    @Override
    public Work submit(ProcessGroup group) {
        return call.submit(group);
    }

    @Override
    public boolean isInOrder() {
        return true;
    }

    @Override
    public String wrongOn(int rank) {
        return call.shape().needsNobody(culprit) ? call.wrongOn(rank) : "it succeeded, but nobody else made this call";
    }

    @Override
    public void reuseMemoryOf(int rank) {
        call.reuseMemoryOf(rank);
    }

    @Override
    public boolean isTouchedOn(int rank) {
        return call.isTouchedOn(rank);
    }

    @Override
    public String toString() {
        return "mistaken " + call;
    }
}
