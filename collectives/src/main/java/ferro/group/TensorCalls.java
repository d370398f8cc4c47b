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
import ferro.spi.RankContext;
import java.time.Duration;

/**
 * Where the calls of a group go: on device tensors through the dispatch, all others straight to the back end, which costs
 * them one look at a type.
 *
 * @param backend back end of the group
 * @param context settings, for the groups made of this one
 * @param gpu     door for device tensors
 */
record TensorCalls(CollectiveBackend backend, RankContext context, GpuCollectives gpu) {
    static TensorCalls of(CollectiveBackend backend, RankContext context) {
        return new TensorCalls(backend, context, GpuCollectives.with(context));
    }

    void run(Collective call, Duration timeout) {
        if (isForTheDoor(call.operand())) {
            gpu.run(call, backend, timeout);
        } else if (gpu.isBusy(backend, Duration.ZERO)) {
            gpu.behind(call, backend, timeout).await();
        } else {
            backend.run(call, timeout);
        }
    }

    Work submit(Collective call, Duration timeout) {
        if (isForTheDoor(call.operand())) {
            return gpu.submit(call, backend, timeout);
        }
        return gpu.isBusy(backend, Duration.ZERO) ? gpu.behind(call, backend, timeout) : backend.submit(call, timeout);
    }

    /** Makes memory for the group's calls, behind the calls that still go through host memory: it has its place among them. */
    HostTensor allocate(DataType dataType, long elementCount, Duration timeout) {
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
        long begun = System.nanoTime();
        try {
            gpu.isBusy(backend, bound);
            Duration left = bound.minusNanos(System.nanoTime() - begun);
            backend.close(left.isNegative() ? Duration.ZERO : left);
        } finally {
            gpu.close();
        }
    }

    private boolean isForTheDoor(Tensor tensor) {
        return tensor instanceof DeviceTensor && !backend.takesDeviceTensors();
    }
}
