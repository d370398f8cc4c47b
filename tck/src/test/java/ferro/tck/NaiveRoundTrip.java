package ferro.tck;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.Message;
import ferro.Tensor;
import ferro.Work;
import ferro.dispatch.DeviceMemory.Copy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Optional;

/** Device tensors the simplest way, one copy each: honest, unless a wrong one overrides a step. */
class NaiveRoundTrip extends Decorator {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    final HeapDeviceMemory devices;

    NaiveRoundTrip(CollectiveBackend honest, HeapDeviceMemory devices) {
        super(honest);
        this.devices = devices;
    }

    @Override
    public boolean takesDeviceTensors() {
        return true;
    }

    @Override
    public Optional<String> unsupportedBecause(Collective call) {
        return call.operand() instanceof DeviceTensor
                ? super.unsupportedBecause(call.on(like(call.in()), like(call.out())))
                : super.unsupportedBecause(call);
    }

    private static Tensor like(Tensor tensor) {
        return tensor == null
                ? null
                : HostTensor.of(tensor.dataType(), ByteBuffer.allocateDirect(0).order(ByteOrder.nativeOrder()));
    }

    @Override
    public Work submit(Collective call, CallOptions options) {
        if (!(call.operand() instanceof DeviceTensor)) {
            return super.submit(call, options);
        }
        unsupportedBecause(call).ifPresent(why -> {
            throw new UnsupportedOperationException(call.kind() + ": " + why);
        });
        call.check(rank(), worldSize());
        HostTensor in = out((DeviceTensor) call.in());
        HostTensor result = call.in() == call.out() ? in : out((DeviceTensor) call.out());
        Work work = super.submit(call.on(in, result), options);
        work.await();
        back(result, written(call));
        return work;
    }

    @Override
    public void run(Collective call, CallOptions options) {
        if (call.operand() instanceof DeviceTensor) {
            submit(call, options).await();
        } else {
            super.run(call, options);
        }
    }

    @Override
    public Work submit(Message message, CallOptions options) {
        if (!(message.tensor() instanceof DeviceTensor device)) {
            return super.submit(message, options);
        }
        HostTensor host = out(device);
        Work work = super.submit(message.on(host), options);
        if (!message.kind().isSend()) {
            work.await();
            back(host, device);
        }
        return work;
    }

    DeviceTensor written(Collective call) {
        return (DeviceTensor) call.writes(rank());
    }

    void awaitOut(Copy copy) {
        copy.await(LIMIT);
    }

    void awaitBack(Copy copy) {
        copy.await(LIMIT);
    }

    private HostTensor out(DeviceTensor tensor) {
        if (tensor == null) {
            return null;
        }
        ByteBuffer bytes = ByteBuffer.allocateDirect((int) tensor.byteCount()).order(ByteOrder.nativeOrder());
        awaitOut(devices.toHost(tensor, bytes));
        return HostTensor.of(tensor.dataType(), bytes);
    }

    private void back(HostTensor from, DeviceTensor to) {
        if (to != null) {
            awaitBack(devices.toDevice((ByteBuffer) from.memory(), to));
        }
    }
}
