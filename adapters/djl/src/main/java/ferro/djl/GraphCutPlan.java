package ferro.djl;

import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The plan of the cuts in the gradient graph of a model.
 *
 * @param cuts the indices of the children before which the graph may be cut; empty if there is no cut
 * @param whyNot the reason why there is no cut; empty if there is a cut
 */
record GraphCutPlan(BitSet cuts, Optional<String> whyNot) {

    /** Returns the plan for the parameters that are trained now. Some may have been frozen since the last batch. */
    static GraphCutPlan of(SequentialBlock model) {
        if (model.isReturnIntermediate()) {
            return not("the model returns the results of all its "
                    + names(model).size() + " children, and a cut would leave these results without a gradient");
        }
        List<Block> children = model.getChildren().values();
        Map<String, Integer> childOf = new HashMap<>();
        BitSet trained = new BitSet();
        for (int child = 0; child < children.size(); child++) {
            for (Parameter parameter : children.get(child).getParameters().values()) {
                Integer first = childOf.putIfAbsent(parameter.getId(), child);
                if (first != null && first != child) {
                    return not("children " + names(model).get(first) + " and "
                            + names(model).get(child) + " share parameter \"" + parameter.getName() + "\"");
                }
                if (parameter.requiresGradient()) {
                    trained.set(child);
                }
            }
        }
        if (trained.cardinality() < 2) {
            return not("parameters are trained in " + trained.cardinality() + " of the model's " + children.size()
                    + " children, need at least two: with fewer, no gradient is ready before the backward pass ends");
        }
        trained.clear(trained.nextSetBit(0));
        return new GraphCutPlan(trained, Optional.empty());
    }

    static List<String> names(SequentialBlock model) {
        return new ArrayList<>(model.getChildren().keys());
    }

    private static GraphCutPlan not(String why) {
        return new GraphCutPlan(new BitSet(), Optional.of(why));
    }
}
