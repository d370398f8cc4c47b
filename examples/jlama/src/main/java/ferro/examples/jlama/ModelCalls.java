package ferro.examples.jlama;

import com.github.tjake.jlama.safetensors.DType;
import com.github.tjake.jlama.tensor.AbstractTensor;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.segments.Segments;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** The collectives of a forward pass, and the time that they take. One thread calls all methods. */
final class ModelCalls {
    private final ProcessGroup tokens;
    /** Two per layer: the sum behind the attention, and the sum behind the feed-forward block. */
    private final List<ProcessGroup> sums = new ArrayList<>();

    private int nextSum;
    private Spent spent = Spent.NOTHING;

    /**
     * The calls of a period. Times include the wait for other ranks.
     *
     * @param sums           number of all-reduces
     * @param bytes          size of the tensors of all all-reduces
     * @param sumNanos       time in all-reduces
     * @param broadcastNanos time in broadcasts
     */
    record Spent(long sums, long bytes, long sumNanos, long broadcastNanos) {
        private static final Spent NOTHING = new Spent(0, 0, 0, 0);

        Spent and(Spent more) {
            return new Spent(
                    sums + more.sums,
                    bytes + more.bytes,
                    sumNanos + more.sumNanos,
                    broadcastNanos + more.broadcastNanos);
        }
    }

    /** A failure names the layer: calls of each layer have a label. */
    ModelCalls(ProcessGroup group, int layers) {
        tokens = group.labelled("token");
        for (int layer = 0; layer < layers; layer++) {
            sums.add(group.labelled("layer " + layer + " attention"));
            sums.add(group.labelled("layer " + layer + " feed-forward"));
        }
    }

    /** Adds tensors over all ranks, in their memory. Jlama calls it twice per layer, in the order of the layers. */
    @SuppressWarnings("rawtypes") // the type that Jlama's forward takes
    void sum(List<AbstractTensor> partial) {
        ProcessGroup group = sums.get(nextSum);
        nextSum = (nextSum + 1) % sums.size();
        for (AbstractTensor tensor : partial) {
            if (tensor.dType() != DType.F32) {
                throw new IllegalStateException("Jlama gave a tensor of type " + tensor.dType() + " to add, need F32");
            }
            long begin = System.nanoTime();
            MemorySegment memory = tensor.getMemorySegment();
            group.allReduce(Segments.tensor(DataType.FLOAT32, memory), ReduceOp.SUM);
            spent = spent.and(new Spent(1, memory.byteSize(), System.nanoTime() - begin, 0));
        }
    }

    /** Gives all ranks the token of rank 0. */
    void broadcast(int[] token) {
        long begin = System.nanoTime();
        tokens.broadcast(token, 0);
        spent = spent.and(new Spent(0, 0, 0, System.nanoTime() - begin));
    }

    /** Returns the calls since the last time that this method was called. */
    Spent takeSpent() {
        Spent taken = spent;
        spent = Spent.NOTHING;
        return taken;
    }
}
