package ferro;

import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Element type; {@code label} is what settings, tables and JSON use. Messages carry the place of a type: a new one comes last. */
public enum DataType {
    /** Signed 8 bit. */
    INT8("i8", Carrier.BYTE, Numbers.SIGNED),
    /** Unsigned 8 bit, in byte[]. */
    UINT8("u8", Carrier.BYTE, Numbers.UNSIGNED),
    /** Signed 16 bit; what short[] means when nothing else is said; host only (NCCL has none). */
    INT16("i16", Carrier.SHORT, Numbers.SIGNED),
    /** Signed 32 bit. */
    INT32("i32", Carrier.INT, Numbers.SIGNED),
    /** Unsigned 32 bit, in int[]. */
    UINT32("u32", Carrier.INT, Numbers.UNSIGNED),
    /** Signed 64 bit. */
    INT64("i64", Carrier.LONG, Numbers.SIGNED),
    /** Unsigned 64 bit, in long[]. */
    UINT64("u64", Carrier.LONG, Numbers.UNSIGNED),
    /** IEEE binary16, as raw bits in short[]. */
    FLOAT16("f16", Carrier.SHORT, Numbers.FLOATING),
    /** bfloat16, as raw bits in short[]. */
    BFLOAT16("bf16", Carrier.SHORT, Numbers.FLOATING),
    /** IEEE binary32. */
    FLOAT32("f32", Carrier.FLOAT, Numbers.FLOATING),
    /** IEEE binary64. */
    FLOAT64("f64", Carrier.DOUBLE, Numbers.FLOATING),
    /** Unsigned 16 bit, in short[]; host only (NCCL has none). */
    UINT16("u16", Carrier.SHORT, Numbers.UNSIGNED);

    private final String label;
    private final Carrier carrier;
    private final int byteSize;
    private final Numbers numbers;

    DataType(String label, Carrier carrier, Numbers numbers) {
        this.label = label;
        this.carrier = carrier;
        this.byteSize = carrier.byteSize();
        this.numbers = numbers;
    }

    /**
     * Returns the short name.
     *
     * @return for example {@code f32}
     */
    public String label() {
        return label;
    }

    /**
     * Returns the size of one element.
     *
     * @return bytes
     */
    public int byteSize() {
        return byteSize;
    }

    /**
     * Returns the Java type that holds the elements.
     *
     * @return for example {@code INT} for i32 and u32
     */
    public Carrier carrier() {
        return carrier;
    }

    /**
     * Returns whether the elements are floating-point numbers.
     *
     * @return true for f16, bf16, f32 and f64
     */
    public boolean isFloating() {
        return numbers == Numbers.FLOATING;
    }

    /**
     * Returns whether the elements are integers without a sign.
     *
     * @return true for u8, u16, u32 and u64
     */
    public boolean isUnsigned() {
        return numbers == Numbers.UNSIGNED;
    }

    /**
     * Finds a type by its label.
     *
     * @param label for example {@code f32}
     * @return type
     * @throws IllegalArgumentException listing the labels if there is no such type
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

    /** What the bits of an element stand for. */
    private enum Numbers {
        SIGNED,
        UNSIGNED,
        FLOATING
    }
}
