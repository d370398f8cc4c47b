package ferro.training;

import ferro.DataType;
import java.util.Arrays;
import java.util.Objects;

/**
 * A tensor that training changes: its name, its type and its shape.
 *
 * <p>Two parameters are equal if name, type and shape are.
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
     * Names a parameter.
     *
     * @param name its name, unique in its model, such as {@code dense2.weight}; not blank
     * @param dataType its type
     * @param shape the length of each dimension, from the outermost; none for a single value
     * @return the parameter
     * @throws IllegalArgumentException if the name is blank, or a length is not positive
     * @throws ArithmeticException if it would have more than 2^63 - 1 elements
     */
    public static Parameter of(String name, DataType dataType, long... shape) {
        Objects.requireNonNull(dataType, "dataType");
        if (name.isBlank()) {
            throw new IllegalArgumentException("need a name for a parameter, found \"" + name + "\"");
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

    /**
     * Says what it is called.
     *
     * @return the name
     */
    public String name() {
        return name;
    }

    /**
     * Says which type its elements have.
     *
     * @return the type
     */
    public DataType dataType() {
        return dataType;
    }

    /**
     * Says how long it is in each dimension.
     *
     * @return a copy
     */
    public long[] shape() {
        return shape.clone();
    }

    /**
     * Says how many elements it has.
     *
     * @return at least 1
     */
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
