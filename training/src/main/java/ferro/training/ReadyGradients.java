package ferro.training;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The gradients of a step that are ready, and the buckets that are therefore complete. One thread at a time may use a
 * {@code ReadyGradients} object.
 */
final class ReadyGradients {
    private final BucketLayout layout;
    private final BitSet ready = new BitSet();
    /**
     * Gradients of accumulated passes. A gradient of an accumulated pass belongs to this step even if the last pass
     * does not compute the gradient.
     */
    private final BitSet accumulated = new BitSet();

    private final int[] missing;

    ReadyGradients(BucketLayout layout) {
        this.layout = layout;
        missing = new int[layout.buckets().size()];
        reset();
    }

    boolean isReady(int parameter) {
        return ready.get(parameter);
    }

    /** Returns whether any gradient of this pass is ready. */
    boolean hasAny() {
        return !ready.isEmpty();
    }

    int readyCount() {
        return ready.cardinality();
    }

    void add(int parameter) {
        ready.set(parameter);
        missing[layout.bucketOf(parameter)]--;
    }

    void accumulate(int parameter) {
        accumulated.set(parameter);
    }

    boolean isComplete(int bucket) {
        return missing[bucket] == 0;
    }

    /** Returns whether the gradient of a parameter was not ready in any pass of this step. */
    boolean isUnused(int parameter) {
        return !ready.get(parameter) && !accumulated.get(parameter);
    }

    /** Returns the parameters whose gradients were not ready in any pass of this step, in their listed order. */
    List<Parameter> unused() {
        List<Parameter> unused = new ArrayList<>();
        for (int parameter = 0; parameter < layout.parameters().size(); parameter++) {
            if (isUnused(parameter)) {
                unused.add(layout.parameters().get(parameter));
            }
        }
        return unused;
    }

    /** Begins the next step. */
    void reset() {
        ready.clear();
        accumulated.clear();
        for (int bucket = 0; bucket < missing.length; bucket++) {
            missing[bucket] = layout.buckets().get(bucket).members().size();
        }
    }
}
