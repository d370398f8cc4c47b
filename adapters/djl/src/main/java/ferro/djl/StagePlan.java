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
 * In front of which children of a model the graph of its gradients may be cut.
 *
 * @param cuts the children, by index; none if nothing can be gained
 * @param whyNot why there is none; empty if there is one
 */
record StagePlan(BitSet cuts, Optional<String> whyNot) {

    /** Looks at which parameters are trained now: some may have been frozen since the last batch. */
    static StagePlan of(SequentialBlock model) {
        if (model.isReturnIntermediate()) {
            return not("the model returns the results of all its "
                    + names(model).size() + " children, which a cut would leave without a gradient");
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
                    + " children, need two: its one gradient is ready when the backward pass ends");
        }
        trained.clear(trained.nextSetBit(0));
        return new StagePlan(trained, Optional.empty());
    }

    static List<String> names(SequentialBlock model) {
        return new ArrayList<>(model.getChildren().keys());
    }

    private static StagePlan not(String why) {
        return new StagePlan(new BitSet(), Optional.of(why));
    }
}
