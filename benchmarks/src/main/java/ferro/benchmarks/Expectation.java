package ferro.benchmarks;

import ferro.ReduceOp;

/**
 * What each rank starts with and must end with, by plain loops that share nothing with the engine.
 *
 * @param collective what is measured
 * @param op         how to reduce
 * @param rank       whose result
 * @param ranks      world size
 * @param count      elements of the whole tensor
 */
record Expectation(Measured collective, ReduceOp op, int rank, int ranks, int count) {
    /** Owner of broadcasts and scatters, receiver of reduces and gathers. */
    static final int ROOT = 0;

    /**
     * One element.
     *
     * @param whole as an integer that wraps
     * @param real  as a number that does not
     */
    record Value(long whole, double real) {
        static Value of(long exact) {
            return new Value(exact, exact);
        }
    }

    /** Element of a rank's input: 2 to 6, neither 0 nor 1, different between neighbours and ranks. */
    static long input(int rank, int index) {
        return 2 + (index * 3L + rank * 2L) % 5;
    }

    private int part() {
        return count / ranks;
    }

    /** Element of this rank's result. */
    Value result(int index) {
        return switch (collective) {
            case ALLREDUCE -> reduced(index);
            case REDUCE -> rank == ROOT ? reduced(index) : Value.of(input(rank, index));
            case REDUCESCATTER -> reduced(rank * part() + index);
            case BROADCAST, PINGPONG -> Value.of(input(ROOT, index));
            case ALLGATHER, GATHER -> Value.of(input(index / part(), index % part()));
            case SCATTER -> Value.of(input(ROOT, rank * part() + index));
            case ALLTOALL -> Value.of(input(index / part(), rank * part() + index % part()));
            case BARRIER -> throw new IllegalStateException("a barrier has no element " + index);
        };
    }

    private Value reduced(int index) {
        long whole = input(0, index);
        double real = whole;
        for (int other = 1; other < ranks; other++) {
            long operand = input(other, index);
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
        return op == ReduceOp.AVG ? new Value(whole / ranks, real / ranks) : new Value(whole, real);
    }
}
