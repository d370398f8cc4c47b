package ferro.training.checkpoint;

import ferro.HostTensor;
import ferro.spi.SurrogateCheck;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A complete tensor of a checkpoint, with a name, a shape and elements. The data type of the tensor is the data type of
 * the elements.
 *
 * @param name   the name of the tensor, unique in its checkpoint
 * @param shape  the length of each dimension, outermost dimension first; empty for a single value
 * @param values the elements in row-major order; a save reads the elements, and a load writes the elements
 */
public record NamedTensor(String name, List<Long> shape, HostTensor values) {
    /**
     * Copies the shape.
     *
     * @param name   the name of the tensor, unique in its checkpoint
     * @param shape  the length of each dimension, outermost dimension first
     * @param values the elements
     * @throws IllegalArgumentException if the name is blank, contains half of a surrogate pair, or is
     *     {@code __metadata__}, which the file format reserves; or if the shape needs another number of elements
     */
    public NamedTensor {
        Objects.requireNonNull(values, "values");
        shape = List.copyOf(shape);
        if (name.isBlank() || name.equals(SafetensorsHeader.METADATA)) {
            throw new IllegalArgumentException("the name of a tensor must not be blank or " + SafetensorsHeader.METADATA
                    + ", found \"" + name + "\"");
        }
        SurrogateCheck.refuseHalves("the name of tensor \"" + name + "\"", name);
        if (shape.stream().anyMatch(length -> length < 0) || elements(shape) != values.elementCount()) {
            throw new IllegalArgumentException("tensor \"" + name + "\" has shape " + shape + ", but "
                    + values.elementCount() + " elements, which do not fit the shape");
        }
    }

    /**
     * {@return a tensor with a name and a shape}
     *
     * @param name   the name of the tensor, unique in its checkpoint
     * @param values the elements
     * @param shape  the length of each dimension, outermost dimension first; empty for a single value
     * @throws IllegalArgumentException if the name is blank, contains half of a surrogate pair, or is
     *     {@code __metadata__}; or if the shape needs another number of elements
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
