package ferro.backend.nccl;

import ferro.DataType;
import java.util.Optional;

/** An element type with its number in NCCL: {@code ncclDataType_t} of nccl.h. */
public enum NcclDataType {
    /** Signed 8 bit. */
    INT8(0, DataType.INT8),
    /** Unsigned 8 bit. */
    UINT8(1, DataType.UINT8),
    /** Signed 32 bit. */
    INT32(2, DataType.INT32),
    /** Unsigned 32 bit. */
    UINT32(3, DataType.UINT32),
    /** Signed 64 bit. */
    INT64(4, DataType.INT64),
    /** Unsigned 64 bit. */
    UINT64(5, DataType.UINT64),
    /** IEEE binary16. */
    FLOAT16(6, DataType.FLOAT16),
    /** IEEE binary32. */
    FLOAT32(7, DataType.FLOAT32),
    /** IEEE binary64. */
    FLOAT64(8, DataType.FLOAT64),
    /** bfloat16; since NCCL 2.10. */
    BFLOAT16(9, DataType.BFLOAT16),
    /** 8-bit float with 4 bits of exponent; since NCCL 2.24.3. Tensors of ferro cannot have this type. */
    FLOAT8_E4M3(10, null),
    /** 8-bit float with 5 bits of exponent; since NCCL 2.24.3. Tensors of ferro cannot have this type. */
    FLOAT8_E5M2(11, null);

    private static final NcclVersion FIRST_WITH_BFLOAT16 = new NcclVersion(2, 10, 0);
    private static final NcclVersion FIRST_WITH_FLOAT8 = new NcclVersion(2, 24, 3);

    private final int code;
    private final DataType type;

    NcclDataType(int code, DataType type) {
        this.code = code;
        this.type = type;
    }

    /** {@return NCCL's code} */
    public int code() {
        return code;
    }

    /** {@return the size of one element in bytes} */
    public int byteSize() {
        return type == null ? 1 : type.byteSize();
    }

    /**
     * {@return why the library does not support this type; empty if it does}
     *
     * @param library release of the loaded NCCL
     */
    public Optional<String> unsupportedBecause(NcclVersion library) {
        NcclVersion first = switch (this) {
            case BFLOAT16 -> FIRST_WITH_BFLOAT16;
            case FLOAT8_E4M3, FLOAT8_E5M2 -> FIRST_WITH_FLOAT8;
            default -> library;
        };
        return library.atLeast(first)
                ? Optional.empty()
                : Optional.of("element type " + name() + " needs NCCL >= " + first + ", found " + library);
    }

    /**
     * Finds NCCL's type for an element type of ferro.
     *
     * @param type element type
     * @return NCCL's type
     * @throws UnsupportedOperationException if NCCL has no such type; the message names {@code type} and the types of
     *     NCCL
     */
    public static NcclDataType of(DataType type) {
        for (NcclDataType mine : values()) {
            if (mine.type == type) {
                return mine;
            }
        }
        throw new UnsupportedOperationException("the NCCL fast path has no element type " + type.label()
                + ": use one of i8 u8 i32 u32 i64 u64 f16 bf16 f32 f64");
    }
}
