package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Chooses the kernel of a type and an op. */
public final class Kernels {
    private static final Map<DataType, Map<ReduceOp, Supplier<BlockKernel>>> BUILT_IN = Map.ofEntries(
            Map.entry(DataType.FLOAT16, floats(DataType.FLOAT16)),
            Map.entry(DataType.BFLOAT16, floats(DataType.BFLOAT16)),
            Map.entry(DataType.FLOAT32, floats(DataType.FLOAT32)),
            Map.entry(
                    DataType.FLOAT64,
                    Map.of(
                            ReduceOp.SUM, DoubleKernel.Sum::new,
                            ReduceOp.AVG, DoubleKernel.Sum::new,
                            ReduceOp.PRODUCT, DoubleKernel.Product::new,
                            ReduceOp.MIN, DoubleKernel.Min::new,
                            ReduceOp.MAX, DoubleKernel.Max::new)),
            Map.entry(
                    DataType.INT8,
                    integers(ByteKernel.Sum::new, ByteKernel.Product::new, ByteKernel.Min::new, ByteKernel.Max::new)),
            Map.entry(
                    DataType.UINT8,
                    integers(
                            ByteKernel.Sum::new,
                            ByteKernel.Product::new,
                            ByteKernel.UnsignedMin::new,
                            ByteKernel.UnsignedMax::new)),
            Map.entry(
                    DataType.INT16,
                    integers(
                            ShortKernel.Sum::new,
                            ShortKernel.Product::new,
                            ShortKernel.Min::new,
                            ShortKernel.Max::new)),
            Map.entry(
                    DataType.INT32,
                    integers(IntKernel.Sum::new, IntKernel.Product::new, IntKernel.Min::new, IntKernel.Max::new)),
            Map.entry(
                    DataType.UINT32,
                    integers(
                            IntKernel.Sum::new,
                            IntKernel.Product::new,
                            IntKernel.UnsignedMin::new,
                            IntKernel.UnsignedMax::new)),
            Map.entry(
                    DataType.INT64,
                    integers(LongKernel.Sum::new, LongKernel.Product::new, LongKernel.Min::new, LongKernel.Max::new)),
            Map.entry(
                    DataType.UINT64,
                    integers(
                            LongKernel.Sum::new,
                            LongKernel.Product::new,
                            LongKernel.UnsignedMin::new,
                            LongKernel.UnsignedMax::new)));

    private static final VectorSearch VECTORS = VectorSearch.ofThisJvm();

    private Kernels() {}

    /**
     * Returns a kernel of its own, for one thread at a time; making one costs a few KiB, so keep it.
     *
     * @param type element type
     * @param op   how; for AVG the kernel sums, the division is {@link Elements#divide}
     * @return kernel
     * @throws UnsupportedOperationException with the text of {@link #unsupportedBecause} if there is none
     */
    public static Kernel of(DataType type, ReduceOp op) {
        BlockKernel plain = plain(type, op);
        return VECTORS.family().map(family -> family.kernel(type, op, plain)).orElse(plain);
    }

    /** Returns a kernel of plain Java. */
    static BlockKernel plain(DataType type, ReduceOp op) {
        unsupportedBecause(type, op).ifPresent(reason -> {
            throw new UnsupportedOperationException(reason);
        });
        return BUILT_IN.get(type).get(op).get();
    }

    /**
     * Says by what kernels combine in this JVM.
     *
     * @return for example {@code vectors of 512 bits, by memory segments}, or {@code plain Java} and why no vectors
     */
    public static String inForce() {
        return VECTORS.text();
    }

    /**
     * Returns why there is no kernel.
     *
     * @param type element type
     * @param op   how
     * @return empty if {@link #of} works
     */
    public static Optional<String> unsupportedBecause(DataType type, ReduceOp op) {
        Map<ReduceOp, Supplier<BlockKernel>> ofType = BUILT_IN.get(type);
        if (ofType.containsKey(op)) {
            return Optional.empty();
        }
        if (op == ReduceOp.AVG) {
            String why = type.byteSize() < Long.BYTES
                    ? "the sum would have to travel in 64 bits; use sum and divide, or f32 or f64"
                    : "the sum may wrap in its 64 bits; use sum and divide, or f64";
            return Optional.of("no avg of " + type.label() + ": " + why);
        }
        return Optional.of(
                "no " + op.name() + " of " + type.label() + " yet, its kernel comes later: use sum product min max"
                        + (ofType.containsKey(ReduceOp.AVG) ? " avg" : ""));
    }

    private static Map<ReduceOp, Supplier<BlockKernel>> floats(DataType type) {
        HalfConversion conversion = new PlainHalves(type);
        return Map.of(
                ReduceOp.SUM, () -> FloatKernel.of(ReduceOp.SUM, type, conversion),
                ReduceOp.AVG, () -> FloatKernel.of(ReduceOp.AVG, type, conversion),
                ReduceOp.PRODUCT, () -> FloatKernel.of(ReduceOp.PRODUCT, type, conversion),
                ReduceOp.MIN, () -> FloatKernel.of(ReduceOp.MIN, type, conversion),
                ReduceOp.MAX, () -> FloatKernel.of(ReduceOp.MAX, type, conversion));
    }

    private static Map<ReduceOp, Supplier<BlockKernel>> integers(
            Supplier<BlockKernel> sum,
            Supplier<BlockKernel> product,
            Supplier<BlockKernel> min,
            Supplier<BlockKernel> max) {
        return Map.of(ReduceOp.SUM, sum, ReduceOp.PRODUCT, product, ReduceOp.MIN, min, ReduceOp.MAX, max);
    }
}
