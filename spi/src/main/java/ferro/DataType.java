package ferro;

import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The type of the elements of a tensor. Settings, tables and JSON use the {@code label} of a type. Messages between
 * ranks contain the ordinal of a type, so a new type must be added at the end of this enum.
 */
public enum DataType {
    /** Signed integer of 8 bits. */
    INT8("i8", Carrier.BYTE, NumberClass.SIGNED),
    /** Unsigned integer of 8 bits, held in byte[]. */
    UINT8("u8", Carrier.BYTE, NumberClass.UNSIGNED),
    /**
     * Signed integer of 16 bits, the default type of short[]. The type is only for host tensors, since NCCL has no such
     * type.
     */
    INT16("i16", Carrier.SHORT, NumberClass.SIGNED),
    /** Signed integer of 32 bits. */
    INT32("i32", Carrier.INT, NumberClass.SIGNED),
    /** Unsigned integer of 32 bits, held in int[]. */
    UINT32("u32", Carrier.INT, NumberClass.UNSIGNED),
    /** Signed integer of 64 bits. */
    INT64("i64", Carrier.LONG, NumberClass.SIGNED),
    /** Unsigned integer of 64 bits, held in long[]. */
    UINT64("u64", Carrier.LONG, NumberClass.UNSIGNED),
    /** IEEE binary16, held as raw bits in short[]. */
    FLOAT16("f16", Carrier.SHORT, NumberClass.FLOATING),
    /** bfloat16, held as raw bits in short[]. */
    BFLOAT16("bf16", Carrier.SHORT, NumberClass.FLOATING),
    /** IEEE binary32. */
    FLOAT32("f32", Carrier.FLOAT, NumberClass.FLOATING),
    /** IEEE binary64. */
    FLOAT64("f64", Carrier.DOUBLE, NumberClass.FLOATING),
    /** Unsigned integer of 16 bits, held in short[]. The type is only for host tensors, since NCCL has no such type. */
    UINT16("u16", Carrier.SHORT, NumberClass.UNSIGNED);

    private final String label;
    private final Carrier carrier;
    private final int byteSize;
    private final NumberClass numbers;

    DataType(String label, Carrier carrier, NumberClass numbers) {
        this.label = label;
        this.carrier = carrier;
        this.byteSize = carrier.byteSize();
        this.numbers = numbers;
    }

    /** {@return the short name, for example {@code f32}} */
    public String label() {
        return label;
    }

    /** {@return the size of one element in bytes} */
    public int byteSize() {
        return byteSize;
    }

    /** {@return the Java type that holds the elements, for example {@code INT} for i32 and u32} */
    public Carrier carrier() {
        return carrier;
    }

    /** {@return whether the elements are floating-point numbers: f16, bf16, f32 and f64} */
    public boolean isFloating() {
        return numbers == NumberClass.FLOATING;
    }

    /** {@return whether the elements are unsigned integers: u8, u16, u32 and u64} */
    public boolean isUnsigned() {
        return numbers == NumberClass.UNSIGNED;
    }

    /**
     * Finds a type by its label.
     *
     * @param label label of the type, for example {@code f32}
     * @return type
     * @throws IllegalArgumentException if no type has this label; the message lists the labels
     */
    public static DataType parse(String label) {
        Objects.requireNonNull(label, "label");
        for (DataType type : values()) {
            if (type.label.equals(label)) {
                return type;
            }
        }
        throw new IllegalArgumentException("no element type \"" + label + "\": use one of "
                + Stream.of(values()).map(DataType::label).collect(Collectors.joining(" ")));
    }

    /** The meaning of the bits of an element. */
    private enum NumberClass {
        SIGNED,
        UNSIGNED,
        FLOATING
    }
}
