package ferro.dispatch;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.CollectiveKind;
import ferro.HostTensor;
import ferro.Tensor;
import ferro.Work;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;

/** A world of one rank, for all-reduces of floats. */
final class LoneRank implements CollectiveBackend {
    @Override
    public int rank() {
        return 0;
    }

    @Override
    public int worldSize() {
        return 1;
    }

    @Override
    public Optional<String> unsupportedBecause(Collective call) {
        return call.kind() == CollectiveKind.ALL_REDUCE ? Optional.empty() : Optional.of("only all-reduces here");
    }

    @Override
    public Work submit(Collective call, CallOptions options) {
        Object in = ((HostTensor) call.in()).memory();
        System.arraycopy(
                in,
                0,
                ((HostTensor) call.out()).memory(),
                0,
                Math.toIntExact(call.in().elementCount()));
        return Done.well();
    }

    @Override
    public Work send(Tensor tensor, int to, int tag, CallOptions options) {
        throw new UnsupportedOperationException("nobody is at " + to);
    }

    @Override
    public Work recv(Tensor tensor, int from, int tag, CallOptions options) {
        throw new UnsupportedOperationException("nobody is at " + from);
    }

    @Override
    public void send(ByteBuffer message, int to, int tag, Duration timeout) {
        throw new UnsupportedOperationException("nobody is at " + to);
    }

    @Override
    public void recv(ByteBuffer message, int from, int tag, Duration timeout) {
        throw new UnsupportedOperationException("nobody is at " + from);
    }

    @Override
    public void barrier(Duration timeout) {
        // one rank waits for nobody
    }

    @Override
    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
        throw new UnsupportedOperationException("no group " + name + " of one rank");
    }

    @Override
    public void abort(Throwable cause) {
        // nothing is pending
    }

    @Override
    public void close(Duration timeout) {
        // nothing is held
    }

    @Override
    public void close() {
        // nothing is held
    }
}
