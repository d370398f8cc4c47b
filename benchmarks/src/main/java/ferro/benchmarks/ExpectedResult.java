package ferro.benchmarks;

import ferro.ReduceOp;

/**
 * Input and expected result of each rank, which plain loops compute. The loops share no code with the engine.
 *
 * @param collective collective that is measured
 * @param op         reduction
 * @param rank       rank whose result is expected
 * @param ranks      world size
 * @param count      number of elements of the whole tensor
 */
record ExpectedResult(BenchOperation collective, ReduceOp op, int rank, int ranks, int count) {
    /** The root rank: it has the data of broadcasts and scatters, and gets the results of reduces and gathers. */
    static final int ROOT = 0;

    /**
     * One element of an input or a result.
     *
     * @param whole value as an integer that wraps around
     * @param real  value as a number that does not wrap around
     */
    record ElementValue(long whole, double real) {
        static ElementValue of(long exact) {
            return new ElementValue(exact, exact);
        }
    }

    /**
     * Returns an element of a rank's input: 2 to 6, never 0 or 1. Adjacent elements and adjacent ranks have different
     * values.
     */
    static long input(int rank, int index) {
        return 2 + (index * 3L + rank * 2L) % 5;
    }

    private int part() {
        return count / ranks;
    }

    /** Returns an element of this rank's result. */
    ElementValue result(int index) {
        return switch (collective) {
            case ALLREDUCE -> reduced(index, ranks);
            case SCAN -> reduced(index, rank + 1);
            case REDUCE -> rank == ROOT ? reduced(index, ranks) : ElementValue.of(input(rank, index));
            case REDUCESCATTER -> reduced(rank * part() + index, ranks);
            case BROADCAST, PINGPONG -> ElementValue.of(input(ROOT, index));
            case ALLGATHER, GATHER -> ElementValue.of(input(index / part(), index % part()));
            case SCATTER -> ElementValue.of(input(ROOT, rank * part() + index));
            case ALLTOALL -> ElementValue.of(input(index / part(), rank * part() + index % part()));
            case BARRIER -> throw new IllegalStateException("a barrier has no element " + index);
        };
    }

    private ElementValue reduced(int index, int operands) {
        long factor = (long) op.factor();
        long whole = factor * input(0, index);
        double real = whole;
        for (int other = 1; other < operands; other++) {
            long operand = factor * input(other, index);
            switch (op.name()) {
                case "product" -> {
                    whole *= operand;
                    real *= operand;
                }
                case "min" -> {
                    whole = Math.min(whole, operand);
                    real = whole;
                }
                case "max" -> {
                    whole = Math.max(whole, operand);
                    real = whole;
                }
                default -> {
                    whole += operand;
                    real += operand;
                }
            }
        }
        return op == ReduceOp.AVG ? new ElementValue(whole / ranks, real / ranks) : new ElementValue(whole, real);
    }
}
