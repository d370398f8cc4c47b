package ferro.examples.jlama;

import com.github.tjake.jlama.safetensors.DType;
import com.github.tjake.jlama.tensor.AbstractTensor;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.segments.Segments;
import java.util.ArrayList;
import java.util.List;

/** The collectives of a forward pass. One thread calls all methods. */
final class ModelCollectives {
    private final ProcessGroup tokens;
    /** Two per layer: the sum behind the attention, and the sum behind the feed-forward block. */
    private final List<ProcessGroup> sums = new ArrayList<>();

    private int nextSum;

    /** A failure names the layer: calls of each layer have a label. */
    ModelCollectives(ProcessGroup group, int layers) {
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
            group.allReduce(Segments.tensor(DataType.FLOAT32, tensor.getMemorySegment()), ReduceOp.SUM);
        }
    }

    /** Gives all ranks the token of rank 0. */
    void broadcast(int[] token) {
        tokens.broadcast(token, 0);
    }
}
