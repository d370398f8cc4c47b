package ferro.training.checkpoint;

import ferro.HostTensor;
import ferro.spi.Surrogates;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A tensor that a checkpoint keeps whole: its name, its shape and its elements. Its type is that of the elements.
 *
 * @param name its name, unique in its checkpoint
 * @param shape the length of each dimension, from the outermost; none for a single value
 * @param values the elements, the last dimension fastest; a save reads them, a load writes them
 */
public record NamedTensor(String name, List<Long> shape, HostTensor values) {
    /**
     * Copies the shape.
     *
     * @param name its name, unique in its checkpoint
     * @param shape the length of each dimension, from the outermost
     * @param values the elements
     * @throws IllegalArgumentException if the name is blank, {@code __metadata__}, which the file format keeps for itself, or has
     *     half of a surrogate pair, or the shape does not have as many elements
     */
    public NamedTensor {
        Objects.requireNonNull(values, "values");
        shape = List.copyOf(shape);
        if (name.isBlank() || name.equals(SafetensorsHeader.METADATA)) {
            throw new IllegalArgumentException(
                    "need a name for a tensor other than " + SafetensorsHeader.METADATA + ", found \"" + name + "\"");
        }
        Surrogates.refuseHalves("the name of tensor \"" + name + "\"", name);
        if (shape.stream().anyMatch(length -> length < 0) || elements(shape) != values.elementCount()) {
            throw new IllegalArgumentException("tensor \"" + name + "\" of shape " + shape
                    + ": need as many elements, found " + values.elementCount());
        }
    }

    /**
     * Names a tensor.
     *
     * @param name its name, unique in its checkpoint
     * @param values the elements
     * @param shape the length of each dimension, from the outermost; none for a single value
     * @return the tensor
     * @throws IllegalArgumentException if the name is blank, {@code __metadata__}, or has half of a surrogate pair, or the shape
     *     does not have as many elements
     */
    public static NamedTensor of(String name, HostTensor values, long... shape) {
        return new NamedTensor(name, Arrays.stream(shape).boxed().toList(), values);
    }

    private static long elements(List<Long> shape) {
        return shape.stream().reduce(1L, Math::multiplyExact);
    }

    @Override
    public String toString() {
        return name + " " + values.dataType().label() + shape;
    }
}
