package ferro;

import java.util.Objects;

/** Element type; {@code label} is what settings, tables and JSON use. */
public enum DataType {
    /** Signed 8 bit. */
    INT8("i8", 1),
    /** Unsigned 8 bit, in byte[]. */
    UINT8("u8", 1),
    /** Signed 16 bit; what short[] means when nothing else is said; host only (NCCL has none). */
    INT16("i16", 2),
    /** Signed 32 bit. */
    INT32("i32", 4),
    /** Unsigned 32 bit, in int[]. */
    UINT32("u32", 4),
    /** Signed 64 bit. */
    INT64("i64", 8),
    /** Unsigned 64 bit, in long[]. */
    UINT64("u64", 8),
    /** IEEE binary16, as raw bits in short[]. */
    FLOAT16("f16", 2),
    /** bfloat16, as raw bits in short[]. */
    BFLOAT16("bf16", 2),
    /** IEEE binary32. */
    FLOAT32("f32", 4),
    /** IEEE binary64. */
    FLOAT64("f64", 8);

    private final String label;
    private final int byteSize;

    DataType(String label, int byteSize) {
        this.label = label;
        this.byteSize = byteSize;
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
        throw new IllegalArgumentException(
                "no element type \"" + label + "\": use one of i8 u8 i16 i32 u32 i64 u64 f16 bf16 f32 f64");
    }
}
