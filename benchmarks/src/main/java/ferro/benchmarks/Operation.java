package ferro.benchmarks;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** One collective of one size on one rank: its tensors, how to call it, and how many elements of its result are wrong. */
final class Operation {
    private static final int TAG = 7;

    private final ProcessGroup group;
    private final Measured collective;
    private final ReduceOp op;
    private final Expectation expectation;
    private final Elements input;
    private final Elements output;
    private final Runnable call;

    Operation(ProcessGroup group, Sweep sweep, long size) {
        this.group = group;
        collective = sweep.collective();
        op = sweep.op();
        int count = sweep.elements(size, group.worldSize());
        expectation = new Expectation(collective, op, group.rank(), group.worldSize(), count);
        int part = count / group.worldSize();
        input = Elements.of(
                sweep.type(), collective == Measured.ALLGATHER || collective == Measured.GATHER ? part : count);
        output = switch (collective) {
            case ALLREDUCE, BROADCAST, REDUCE, BARRIER -> input;
            case ALLGATHER, GATHER, ALLTOALL, PINGPONG -> Elements.of(sweep.type(), count);
            case REDUCESCATTER, SCATTER -> Elements.of(sweep.type(), part);
        };
        call = call(input.tensor(), output.tensor());
    }

    private Runnable call(HostTensor in, HostTensor out) {
        int root = Expectation.ROOT;
        return switch (collective) {
            case ALLREDUCE -> () -> group.allReduce(in, op);
            case BROADCAST -> () -> group.broadcast(in, root);
            case REDUCE -> () -> group.reduce(in, op, root);
            case ALLGATHER -> () -> group.allGather(in, out);
            case REDUCESCATTER -> () -> group.reduceScatter(in, out, op);
            case GATHER -> () -> group.gather(in, group.rank() == root ? out : null, root);
            case SCATTER -> () -> group.scatter(group.rank() == root ? in : null, out, root);
            case ALLTOALL -> () -> group.allToAll(in, out);
            case BARRIER -> group::barrier;
            case PINGPONG -> pingPong(in, out);
        };
    }

    /** Rank 0 serves, rank 1 returns what it got, the others have nothing to do. */
    private Runnable pingPong(HostTensor in, HostTensor out) {
        return switch (group.rank()) {
            case 0 ->
                () -> {
                    group.send(in, 1, TAG);
                    group.recv(out, 1, TAG);
                };
            case 1 ->
                () -> {
                    group.recv(out, 0, TAG);
                    group.send(out, 0, TAG);
                };
            default -> () -> {};
        };
    }

    void run() {
        call.run();
    }

    /** Runs it once on known data and counts what a plain loop would have given otherwise, on this rank. */
    long wrongElements() {
        output.clear();
        for (int i = 0; i < elements(input); i++) {
            input.put(i, Expectation.input(group.rank(), i));
        }
        run();
        return hasResult() ? countWrong() : 0;
    }

    /** Makes repeated reductions in place harmless. */
    void clear() {
        input.clear();
    }

    /** Elements as the table counts them: those of the whole tensor. */
    int count() {
        return expectation.count();
    }

    private boolean hasResult() {
        return switch (collective) {
            case BARRIER -> false;
            case GATHER -> group.rank() == Expectation.ROOT;
            case PINGPONG -> group.rank() < 2;
            default -> true;
        };
    }

    private long countWrong() {
        long wrong = 0;
        for (int i = 0; i < elements(output); i++) {
            if (!output.is(i, expectation.result(i))) {
                wrong++;
            }
        }
        return wrong;
    }

    private static int elements(Elements elements) {
        return (int) elements.tensor().elementCount();
    }
}
