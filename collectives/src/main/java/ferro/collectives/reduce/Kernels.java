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
            Map.entry(DataType.INT8, bytes(ByteKernel.Min::new, ByteKernel.Max::new)),
            Map.entry(DataType.UINT8, bytes(ByteKernel.UnsignedMin::new, ByteKernel.UnsignedMax::new)),
            Map.entry(DataType.INT16, shorts()),
            Map.entry(DataType.INT32, ints(IntKernel.Min::new, IntKernel.Max::new)),
            Map.entry(DataType.UINT32, ints(IntKernel.UnsignedMin::new, IntKernel.UnsignedMax::new)),
            Map.entry(DataType.INT64, longs(LongKernel.Min::new, LongKernel.Max::new)),
            Map.entry(DataType.UINT64, longs(LongKernel.UnsignedMin::new, LongKernel.UnsignedMax::new)));

    /** From here on a double may stand for a number beside it: 2^53. */
    private static final double LEAST_NOT_WHOLE = 0x1p53;

    private static final VectorSearch VECTORS = VectorSearch.ofThisJvm();

    private Kernels() {}

    /**
     * Returns a kernel of its own, for one thread at a time; making one costs a few KiB, so keep it.
     *
     * @param type element type
     * @param op   how; for AVG of floats and sums of multiplied inputs the kernel sums, the rest is {@link Elements#divide} and
     *             {@link Multiplied}
     * @return kernel
     * @throws UnsupportedOperationException with the text of {@link #unsupportedBecause} if there is none
     */
    public static Kernel of(DataType type, ReduceOp op) {
        if (op.combiner() != null) {
            refuse(type, op);
            return op.span() == null ? new UserKernel(type, op) : new SpanKernel(type, op);
        }
        BlockKernel plain = plain(type, op);
        ReduceOp combining = op.factor() == 1 ? op : ReduceOp.SUM;
        return VECTORS.family()
                .map(family -> family.kernel(type, combining, plain))
                .orElse(plain);
    }

    /** Returns a kernel of plain Java, for an op of ours. */
    static BlockKernel plain(DataType type, ReduceOp op) {
        refuse(type, op);
        Map<ReduceOp, Supplier<BlockKernel>> ofType = BUILT_IN.get(type);
        // what is not among them is a sum of multiplied inputs
        return ofType.getOrDefault(op, ofType.get(ReduceOp.SUM)).get();
    }

    private static void refuse(DataType type, ReduceOp op) {
        unsupportedBecause(type, op).ifPresent(reason -> {
            throw new UnsupportedOperationException(reason);
        });
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
     * Returns why there is no kernel; there is none for averages of integers, which go by {@link WholeSums}.
     *
     * @param type element type
     * @param op   how
     * @return empty if {@link #of} works
     */
    public static Optional<String> unsupportedBecause(DataType type, ReduceOp op) {
        if (op.combiner() != null || BUILT_IN.get(type).containsKey(op)) {
            return op.unsupportedBecause(type);
        }
        if (op == ReduceOp.AVG) {
            return Optional.of(
                    "no kernel for avg of " + type.label() + ": its sum could wrap; use WholeSums and the sum of i64");
        }
        if (op == ReduceOp.BAND || op == ReduceOp.BOR || op == ReduceOp.BXOR) {
            return Optional.of("no " + op.name() + " of " + type.label()
                    + ": bits of a float mean nothing one by one; use" + " sum product min max avg, or integers");
        }
        return isWhole(op.factor()) || isFloating(type)
                ? Optional.empty()
                : Optional.of(
                        "no " + op.name() + " of " + type.label() + ": the factor is not whole, and integers hold no"
                                + " fraction; use a whole factor below 2^53, or f32 or f64");
    }

    private static boolean isFloating(DataType type) {
        return BUILT_IN.get(type).containsKey(ReduceOp.AVG);
    }

    private static boolean isWhole(double factor) {
        return Math.rint(factor) == factor && Math.abs(factor) < LEAST_NOT_WHOLE;
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

    private static Map<ReduceOp, Supplier<BlockKernel>> bytes(Supplier<BlockKernel> min, Supplier<BlockKernel> max) {
        return Map.of(
                ReduceOp.SUM, ByteKernel.Sum::new,
                ReduceOp.PRODUCT, ByteKernel.Product::new,
                ReduceOp.MIN, min,
                ReduceOp.MAX, max,
                ReduceOp.BAND, ByteKernel.And::new,
                ReduceOp.BOR, ByteKernel.Or::new,
                ReduceOp.BXOR, ByteKernel.ExclusiveOr::new);
    }

    private static Map<ReduceOp, Supplier<BlockKernel>> shorts() {
        return Map.of(
                ReduceOp.SUM, ShortKernel.Sum::new,
                ReduceOp.PRODUCT, ShortKernel.Product::new,
                ReduceOp.MIN, ShortKernel.Min::new,
                ReduceOp.MAX, ShortKernel.Max::new,
                ReduceOp.BAND, ShortKernel.And::new,
                ReduceOp.BOR, ShortKernel.Or::new,
                ReduceOp.BXOR, ShortKernel.ExclusiveOr::new);
    }

    private static Map<ReduceOp, Supplier<BlockKernel>> ints(Supplier<BlockKernel> min, Supplier<BlockKernel> max) {
        return Map.of(
                ReduceOp.SUM, IntKernel.Sum::new,
                ReduceOp.PRODUCT, IntKernel.Product::new,
                ReduceOp.MIN, min,
                ReduceOp.MAX, max,
                ReduceOp.BAND, IntKernel.And::new,
                ReduceOp.BOR, IntKernel.Or::new,
                ReduceOp.BXOR, IntKernel.ExclusiveOr::new);
    }

    private static Map<ReduceOp, Supplier<BlockKernel>> longs(Supplier<BlockKernel> min, Supplier<BlockKernel> max) {
        return Map.of(
                ReduceOp.SUM, LongKernel.Sum::new,
                ReduceOp.PRODUCT, LongKernel.Product::new,
                ReduceOp.MIN, min,
                ReduceOp.MAX, max,
                ReduceOp.BAND, LongKernel.And::new,
                ReduceOp.BOR, LongKernel.Or::new,
                ReduceOp.BXOR, LongKernel.ExclusiveOr::new);
    }
}
