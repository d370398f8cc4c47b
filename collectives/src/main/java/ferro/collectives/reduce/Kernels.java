package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Chooses the kernel of a type and an op. */
public final class Kernels {
    private static final Map<DataType, Map<ReduceOp, Supplier<Kernel>>> BUILT_IN = Map.of(
            DataType.FLOAT32,
            Map.of(
                    ReduceOp.SUM, FloatKernel.Sum::new,
                    ReduceOp.AVG, FloatKernel.Sum::new,
                    ReduceOp.PRODUCT, FloatKernel.Product::new,
                    ReduceOp.MIN, FloatKernel.Min::new,
                    ReduceOp.MAX, FloatKernel.Max::new),
            DataType.FLOAT64,
            Map.of(
                    ReduceOp.SUM, DoubleKernel.Sum::new,
                    ReduceOp.AVG, DoubleKernel.Sum::new,
                    ReduceOp.PRODUCT, DoubleKernel.Product::new,
                    ReduceOp.MIN, DoubleKernel.Min::new,
                    ReduceOp.MAX, DoubleKernel.Max::new),
            DataType.INT8,
            Map.of(
                    ReduceOp.SUM, ByteKernel.Sum::new,
                    ReduceOp.PRODUCT, ByteKernel.Product::new,
                    ReduceOp.MIN, ByteKernel.Min::new,
                    ReduceOp.MAX, ByteKernel.Max::new),
            DataType.INT16,
            Map.of(
                    ReduceOp.SUM, ShortKernel.Sum::new,
                    ReduceOp.PRODUCT, ShortKernel.Product::new,
                    ReduceOp.MIN, ShortKernel.Min::new,
                    ReduceOp.MAX, ShortKernel.Max::new),
            DataType.INT32,
            Map.of(
                    ReduceOp.SUM, IntKernel.Sum::new,
                    ReduceOp.PRODUCT, IntKernel.Product::new,
                    ReduceOp.MIN, IntKernel.Min::new,
                    ReduceOp.MAX, IntKernel.Max::new),
            DataType.INT64,
            Map.of(
                    ReduceOp.SUM, LongKernel.Sum::new,
                    ReduceOp.PRODUCT, LongKernel.Product::new,
                    ReduceOp.MIN, LongKernel.Min::new,
                    ReduceOp.MAX, LongKernel.Max::new));

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
        unsupportedBecause(type, op).ifPresent(reason -> {
            throw new UnsupportedOperationException(reason);
        });
        return BUILT_IN.get(type).get(op).get();
    }

    /**
     * Returns why there is no kernel.
     *
     * @param type element type
     * @param op   how
     * @return empty if {@link #of} works
     */
    public static Optional<String> unsupportedBecause(DataType type, ReduceOp op) {
        Map<ReduceOp, Supplier<Kernel>> ofType = BUILT_IN.get(type);
        if (ofType == null) {
            return Optional.of(
                    "no reduction of " + type.label() + " yet, its kernels come later: use f32 f64 i8 i16 i32 i64");
        }
        if (ofType.containsKey(op)) {
            return Optional.empty();
        }
        if (op == ReduceOp.AVG) {
            return Optional.of("no avg of " + type.label()
                    + ": the sum would have to travel in 64 bits; use sum and divide, or f32 or f64");
        }
        return Optional.of(
                "no " + op.name() + " of " + type.label() + " yet, its kernel comes later: use sum product min max"
                        + (type.label().startsWith("f") ? " avg" : ""));
    }
}
