package ferro.group;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.Tensor;
import ferro.Work;
import ferro.dispatch.GpuCollectives;
import ferro.dispatch.HostFallback.Message;
import ferro.spi.Deadlines;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.Optional;

/**
 * Where the calls of a group go: on device tensors through the dispatch, all others straight to the back end, which costs
 * them one look at a type.
 *
 * @param backend back end of the group
 * @param context settings, for the groups made of this one
 * @param gpu     door for device tensors
 * @param coalescing blocks that are open
 */
record TensorCalls(CollectiveBackend backend, RankContext context, GpuCollectives gpu, Coalescing coalescing) {
    static TensorCalls of(CollectiveBackend backend, RankContext context) {
        return new TensorCalls(backend, context, GpuCollectives.with(context), new Coalescing());
    }

    void run(Collective call, Duration timeout) {
        Coalescing.Block block = coalescing.mine();
        if (block != null) {
            keep(call, block);
        } else if (isForTheDoor(call.operand())) {
            gpu.run(call, backend, timeout);
        } else if (gpu.isBusy(backend, Duration.ZERO)) {
            gpu.behind(call, backend, timeout).await();
        } else {
            backend.run(call, timeout);
        }
    }

    Work submit(Collective call, Duration timeout) {
        Coalescing.Block block = coalescing.mine();
        if (block != null) {
            keep(call, block);
            return block.later();
        }
        if (isForTheDoor(call.operand())) {
            return gpu.submit(call, backend, timeout);
        }
        return gpu.isBusy(backend, Duration.ZERO) ? gpu.behind(call, backend, timeout) : backend.submit(call, timeout);
    }

    /** Whatever is wrong with a call is told where it is made. */
    private void keep(Collective call, Coalescing.Block block) {
        call.check(backend.rank(), backend.worldSize());
        Optional<String> why = isForTheDoor(call.operand())
                ? Optional.of("tensors on a device run on their own: call it before or after the block")
                : backend.unsupportedBecause(call);
        if (why.isPresent()) {
            throw new UnsupportedOperationException(call.kind() + " inside coalesced, on rank " + backend.rank()
                    + " of world size " + backend.worldSize() + ": " + why.get());
        }
        block.add(call);
    }

    /** Keeps the calls of a block for its end, and runs them then. */
    void coalesced(Runnable calls, Duration timeout) {
        if (coalescing.mine() != null) {
            calls.run();
            return;
        }
        Coalescing.Block block = coalescing.open(backend);
        try {
            try {
                calls.run();
            } finally {
                coalescing.close(block);
            }
            gpu.isBusy(backend, timeout);
            backend.coalesced(block.handOver(), timeout);
            block.end();
        } catch (RuntimeException | Error failure) {
            block.end(failure);
            throw failure;
        }
    }

    /** Makes memory for the group's calls, behind the calls that still go through host memory: it has its place among them. */
    HostTensor allocate(DataType dataType, long elementCount, Duration timeout) {
        coalescing.refuse("allocate");
        gpu.isBusy(backend, timeout);
        return backend.allocate(dataType, elementCount, timeout);
    }

    Work send(Tensor data, int to, int tag, Duration timeout) {
        return isForTheDoor(data)
                ? gpu.transfer(new Message(true, (DeviceTensor) data, to, tag), backend, timeout)
                : backend.send(data, to, tag, timeout);
    }

    Work recv(Tensor data, int from, int tag, Duration timeout) {
        return isForTheDoor(data)
                ? gpu.transfer(new Message(false, (DeviceTensor) data, from, tag), backend, timeout)
                : backend.recv(data, from, tag, timeout);
    }

    /** Closes the back end when what goes through host memory has been handed over, or the bound is over. */
    void close(Duration bound) {
        long until = context.nanoTime() + Deadlines.nanos(bound);
        try {
            gpu.isBusy(backend, bound);
            backend.close(Duration.ofNanos(Math.max(0, until - context.nanoTime())));
        } finally {
            gpu.close();
        }
    }

    private boolean isForTheDoor(Tensor tensor) {
        return tensor instanceof DeviceTensor && !backend.takesDeviceTensors();
    }
}
