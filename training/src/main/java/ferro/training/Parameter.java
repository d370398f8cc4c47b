package ferro.training;

import ferro.DataType;
import java.util.Arrays;
import java.util.Objects;

/**
 * A tensor that training changes, described by its name, element type and shape.
 *
 * <p>Two parameters are equal if their names, types and shapes are equal.
 */
public final class Parameter {
    private final String name;
    private final DataType dataType;
    private final long[] shape;

    private Parameter(String name, DataType dataType, long[] shape) {
        this.name = name;
        this.dataType = dataType;
        this.shape = shape;
    }

    /**
     * Creates a parameter.
     *
     * @param name name, unique in its model, such as {@code dense2.weight}; not blank
     * @param dataType element type
     * @param shape length of each dimension, outermost dimension first; empty for a single value
     * @return parameter
     * @throws IllegalArgumentException if the name is blank, or a length is not positive
     * @throws ArithmeticException if the parameter would have more than 2^63 - 1 elements
     */
    public static Parameter of(String name, DataType dataType, long... shape) {
        Objects.requireNonNull(dataType, "dataType");
        if (name.isBlank()) {
            throw new IllegalArgumentException("a parameter needs a name that is not blank, found \"" + name + "\"");
        }
        long elements = 1;
        for (long length : shape) {
            if (length < 1) {
                throw new IllegalArgumentException("parameter \"" + name + "\" of shape " + Arrays.toString(shape)
                        + ": need positive lengths, found " + length);
            }
            elements = Math.multiplyExact(elements, length);
        }
        return new Parameter(name, dataType, shape.clone());
    }

    /** {@return the name of the parameter} */
    public String name() {
        return name;
    }

    /** {@return the type of the elements} */
    public DataType dataType() {
        return dataType;
    }

    /** {@return a copy of the shape: the length of each dimension, outermost dimension first} */
    public long[] shape() {
        return shape.clone();
    }

    /** {@return the number of elements, 1 or more} */
    public long elementCount() {
        long elements = 1;
        for (long length : shape) {
            elements *= length;
        }
        return elements;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Parameter that
                && name.equals(that.name)
                && dataType == that.dataType
                && Arrays.equals(shape, that.shape);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, dataType, Arrays.hashCode(shape));
    }

    @Override
    public String toString() {
        return name + " " + dataType + Arrays.toString(shape);
    }
}
