package ferro.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.util.Pair;
import ferro.HostTensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The parameters of a model that have a gradient, in the order of the model.
 *
 * <p>The names of the parameters come from {@link Block#getParameters()}, which numbers the children of each block. The
 * names are therefore unique, and the same in every process that builds the same model. DJL's ids contain a time and a
 * counter, so they differ from process to process.
 */
final class TrainableParameters {
    private final List<Parameter> parameters = new ArrayList<>();
    private final List<ferro.training.Parameter> described = new ArrayList<>();
    private final Map<String, Integer> indexOfId = new HashMap<>();

    /** Finds the trained parameters of an initialized model. */
    TrainableParameters(Block block) {
        for (Pair<String, Parameter> named : block.getParameters()) {
            Parameter parameter = named.getValue();
            // a parameter that two blocks share gets the first of its names
            if (parameter.requiresGradient() && !indexOfId.containsKey(parameter.getId())) {
                indexOfId.put(parameter.getId(), parameters.size());
                parameters.add(parameter);
                described.add(describe(named.getKey(), parameter.getArray()));
            }
        }
        if (parameters.isEmpty()) {
            throw new IllegalStateException(
                    "the model has " + block.getParameters().size()
                            + " parameters, and none of them requires a gradient: nothing to train");
        }
    }

    /** Allocates host memory for the elements of an array. */
    static HostTensor hostBuffer(String name, NDArray array) {
        ferro.training.Parameter described = describe(name, array);
        return HostTensor.allocate(described.dataType(), described.elementCount());
    }

    private static ferro.training.Parameter describe(String name, NDArray array) {
        if (!array.getDevice().equals(Device.cpu())) {
            throw new UnsupportedOperationException("parameter \"" + name + "\" is on device " + array.getDevice()
                    + ", but ferro-djl trains in host memory only: set optDevices of the training config to "
                    + Device.cpu());
        }
        return ferro.training.Parameter.of(
                name, type(name, array.getDataType()), array.getShape().getShape());
    }

    private static ferro.DataType type(String name, DataType type) {
        return switch (type) {
            case FLOAT32 -> ferro.DataType.FLOAT32;
            case FLOAT64 -> ferro.DataType.FLOAT64;
            default ->
                throw new UnsupportedOperationException("parameter \"" + name + "\" has type " + type
                        + ", need FLOAT32 or FLOAT64: smaller types lose small updates");
        };
    }

    int size() {
        return parameters.size();
    }

    /** Returns the parameters in the form of ferro's training module. */
    List<ferro.training.Parameter> described() {
        return described;
    }

    Parameter get(int index) {
        return parameters.get(index);
    }

    /** Returns the index of the parameter that has the given DJL id. */
    int indexOf(String id) {
        Integer index = indexOfId.get(id);
        if (index == null) {
            throw new IllegalStateException("DJL updates parameter " + id + ", which is not one of the " + size()
                    + " parameters that were trained in the first step: " + described
                    + "; freeze or add parameters before the first step, and pass the block of the trained model to"
                    + " DistributedOptimizer.over");
        }
        return index;
    }

    String nameOf(int index) {
        return described.get(index).name();
    }
}
