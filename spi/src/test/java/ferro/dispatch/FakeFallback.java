package ferro.dispatch;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.Message;
import ferro.Tensor;
import ferro.Work;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A small round trip of floats, that says what it was asked; the real one is a module of its own. */
final class FakeFallback implements HostFallback {
    private final HeapDevice memory;
    private final List<String> calls = new ArrayList<>();
    private String unavailable;
    private String unsupported;
    private boolean busy;

    FakeFallback(HeapDevice memory) {
        this.memory = memory;
    }

    FakeFallback unavailable(String why) {
        unavailable = why;
        return this;
    }

    FakeFallback unsupported(String why) {
        unsupported = why;
        return this;
    }

    @Override
    public Optional<String> unsupportedBecause(Collective call, RankContext context) {
        return Optional.ofNullable(unsupported);
    }

    @Override
    public Optional<String> unsupportedBecause(Message message) {
        return Optional.ofNullable(unsupported);
    }

    void busy(boolean now) {
        busy = now;
    }

    @Override
    public boolean isBusy(CollectiveBackend host, RankContext context, Duration timeout) {
        return busy;
    }

    List<String> calls() {
        return List.copyOf(calls);
    }

    @Override
    public Optional<String> unavailableBecause(RankContext context) {
        return Optional.ofNullable(unavailable);
    }

    @Override
    public Work submit(Collective call, CollectiveBackend host, RankContext context, CallOptions options) {
        calls.add(call.kind().label());
        if (call.operand() instanceof HostTensor) {
            return host.submit(call, options);
        }
        float[] in = call.in() == null ? null : memory.floats((DeviceTensor) call.in());
        float[] out =
                call.out() == null ? null : call.out() == call.in() ? in : memory.floats((DeviceTensor) call.out());
        host.run(call.on(host(in), host(out)), options);
        if (out != null) {
            memory.write((DeviceTensor) call.out(), out);
        }
        return Done.well();
    }

    @Override
    public Work transfer(Message message, CollectiveBackend host, RankContext context, CallOptions options) {
        calls.add((message.kind().isSend() ? "send to " : "recv from ") + message.peer() + " tag " + message.tag());
        return Done.well();
    }

    private static Tensor host(float[] values) {
        return values == null ? null : HostTensor.of(values);
    }
}
