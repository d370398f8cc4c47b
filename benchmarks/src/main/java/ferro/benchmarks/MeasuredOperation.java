package ferro.benchmarks;

import ferro.Collective;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;
import ferro.group.ProcessGroup;

/** One collective of one size on one rank. The object has the tensors, makes the call, and checks the result. */
final class MeasuredOperation implements AutoCloseable {
    /** Tag of all messages. NCCL supports only this tag. */
    private static final int TAG = 0;

    private final ProcessGroup group;
    private final MeasuredMemory place;
    private final BenchOperation collective;
    private final ReduceOp op;
    private final ExpectedResult expectation;
    private final MeasuredTensor input;
    private final MeasuredTensor output;
    private final Tensor inputTensor;
    private final Tensor outputTensor;
    private final Runnable call;

    MeasuredOperation(ProcessGroup group, MeasuredMemory place, Sweep sweep, long size) {
        this.group = group;
        this.place = place;
        collective = sweep.collective();
        op = sweep.op();
        int count = sweep.elements(size, group.worldSize());
        expectation = new ExpectedResult(collective, op, group.rank(), group.worldSize(), count);
        int part = count / group.worldSize();
        input = MeasuredTensor.of(
                sweep.type(),
                collective == BenchOperation.ALLGATHER || collective == BenchOperation.GATHER ? part : count);
        output = switch (collective) {
            case ALLREDUCE, BROADCAST, REDUCE, SCAN, BARRIER -> input;
            case ALLGATHER, GATHER, ALLTOALL, PINGPONG -> MeasuredTensor.of(sweep.type(), count);
            case REDUCESCATTER, SCATTER -> MeasuredTensor.of(sweep.type(), part);
        };
        inputTensor = place.tensor(input);
        outputTensor = output == input ? inputTensor : place.tensor(output);
        call = call(inputTensor, outputTensor);
    }

    private Runnable call(Tensor in, Tensor out) {
        int root = ExpectedResult.ROOT;
        return switch (collective) {
            case ALLREDUCE -> () -> group.allReduce(in, op);
            case BROADCAST -> () -> group.broadcast(in, root);
            case REDUCE -> () -> group.reduce(in, op, root);
            case ALLGATHER -> () -> group.allGather(in, out);
            case REDUCESCATTER -> () -> group.reduceScatter(in, out, op);
            case GATHER -> () -> group.gather(in, group.rank() == root ? out : null, root);
            case SCATTER -> () -> group.scatter(group.rank() == root ? in : null, out, root);
            case ALLTOALL -> () -> group.allToAll(in, out);
            case SCAN -> () -> group.scan(in, op);
            case BARRIER -> group::barrier;
            case PINGPONG -> pingPong(in, out);
        };
    }

    /** Returns a rank's part of a ping-pong. Rank 0 sends first, rank 1 sends back, and other ranks do nothing. */
    private Runnable pingPong(Tensor in, Tensor out) {
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

    /** Queues the operation after earlier operations. */
    Work submit() {
        int root = ExpectedResult.ROOT;
        Tensor in = inputTensor;
        Tensor out = outputTensor;
        return group.submit(
                switch (collective) {
                    case ALLREDUCE -> Collective.allReduce(in, op);
                    case BROADCAST -> Collective.broadcast(in, root);
                    case REDUCE -> Collective.reduce(in, op, root);
                    case ALLGATHER -> Collective.allGather(in, out);
                    case REDUCESCATTER -> Collective.reduceScatter(in, out, op);
                    case GATHER -> Collective.gather(in, out, root);
                    case SCATTER -> Collective.scatter(in, out, root);
                    case ALLTOALL -> Collective.allToAll(in, out);
                    case SCAN -> Collective.scan(in, op);
                    case BARRIER, PINGPONG ->
                        throw new IllegalStateException(collective.label() + " is not an operation that can be queued");
                });
    }

    /**
     * Writes the input again and then runs the operation, as a program with new data for each call does. Data that was
     * not written since the last call is still in the cache of the core that has read the data. The input of an
     * all-reduce is not written again, because an all-reduce overwrites its input.
     */
    void runOnFreshInput() {
        if (collective.readsInput(group.rank() == ExpectedResult.ROOT)) {
            place.rewrite(input, inputTensor);
        }
        call.run();
    }

    /** Runs the operation on known data. Returns how many elements of this rank differ from a plain loop's result. */
    long wrongElements() {
        giveKnownInput();
        run();
        return wrongInResult();
    }

    void giveKnownInput() {
        output.fill(0);
        place.write(output, outputTensor);
        for (int i = 0; i < elements(input); i++) {
            input.put(i, ExpectedResult.input(group.rank(), i));
        }
        place.write(input, inputTensor);
    }

    /** Returns how many elements of this rank are wrong after a run on known input. */
    long wrongInResult() {
        place.read(outputTensor, output);
        return hasResult() ? countWrong() : 0;
    }

    /** Zeroes the input, so that repeated reductions in place are harmless. */
    void clear() {
        input.fill(0);
        place.write(input, inputTensor);
    }

    @Override
    public void close() {
        place.free(inputTensor);
        if (outputTensor != inputTensor) {
            place.free(outputTensor);
        }
    }

    /** Returns the number of elements of the full tensor, which the table shows. */
    int count() {
        return expectation.count();
    }

    private boolean hasResult() {
        return switch (collective) {
            case BARRIER -> false;
            case GATHER -> group.rank() == ExpectedResult.ROOT;
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

    private static int elements(MeasuredTensor elements) {
        return (int) elements.tensor().elementCount();
    }
}
