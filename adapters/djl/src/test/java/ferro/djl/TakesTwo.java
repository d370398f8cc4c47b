package ferro.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;

/** A block that passes the sum of its two inputs to another block. */
final class TakesTwo extends AbstractBlock {
    private final Block taken;

    TakesTwo(Block taken) {
        this.taken = addChildBlock("taken", taken);
    }

    @Override
    protected NDList forwardInternal(
            ParameterStore store, NDList inputs, boolean training, PairList<String, Object> params) {
        return taken.forward(store, new NDList(inputs.get(0).add(inputs.get(1))), training);
    }

    @Override
    protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... shapes) {
        taken.initialize(manager, dataType, shapes[0]);
    }

    @Override
    public Shape[] getOutputShapes(Shape[] shapes) {
        return taken.getOutputShapes(new Shape[] {shapes[0]});
    }
}
