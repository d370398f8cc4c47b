package ferro.dispatch;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.CollectiveKind.Held;
import ferro.DeviceTensor;
import ferro.InvalidRankException;
import ferro.Work;
import java.lang.ref.Reference;
import java.util.Arrays;

/**
 * A call whose result is a new tensor. The call is checked before the memory of the result is allocated; until then, a
 * template tensor with a shape and no memory takes the place of the result. If the call fails, the memory is freed.
 */
final class OutOfPlaceCall {
    private final Dispatch dispatch;
    private final Collective call;
    private final DeviceTensor template;

    /**
     * Creates a call from a call on its input alone. The shape of the result follows from the kind: parts are joined and
     * divided along the first dimension, which has the longest stride.
     */
    OutOfPlaceCall(Dispatch dispatch, Collective given) {
        CollectiveKind kind = given.kind();
        int ranks = dispatch.worldSize();
        if (kind.isRooted()) {
            InvalidRankException.check(kind.label(), "root", given.root(), ranks);
        }
        this.dispatch = dispatch;
        boolean isRoot = dispatch.rank() == given.root();
        if (kind.out() == Held.ALL_ON_ROOT && !isRoot) {
            this.template = null;
            this.call = given;
            return;
        }
        DeviceTensor in = (DeviceTensor) given.operand();
        long[] shape = in.shape();
        if (kind.out() == Held.PART) {
            shape = part(kind, shape, ranks);
        } else if (kind.in() == Held.PART) {
            shape = joined(shape, ranks);
        }
        this.template = new DeviceTensor(in.dataType(), shape, 0, in.device(), null);
        this.call = kind == CollectiveKind.BROADCAST
                ? given
                : given.on(kind == CollectiveKind.SCATTER && !isRoot ? null : in, template);
    }

    /** Runs the call. Returns the result after the call has ended, or null if this rank receives no result. */
    DeviceTensor run() {
        dispatch.openFresh(call);
        DeviceTensor out = allocate();
        try {
            dispatch.run(ready(out));
        } catch (RuntimeException | Error failure) {
            free(out, failure);
            throw failure;
        } finally {
            Reference.reachabilityFence(call);
        }
        return out;
    }

    /** Starts the call. */
    OutOfPlaceResult submit() {
        dispatch.openFresh(call);
        DeviceTensor out = allocate();
        try {
            Work work = dispatch.submit(ready(out));
            work.completion().whenComplete((nothing, failure) -> {
                if (failure != null) {
                    free(out, failure);
                }
            });
            return new OutOfPlaceResult(out, work);
        } catch (RuntimeException | Error failure) {
            free(out, failure);
            throw failure;
        }
    }

    private DeviceTensor allocate() {
        return template == null ? null : dispatch.allocate(call.kind().label(), template);
    }

    /**
     * Returns the call with the allocated tensor in place of the template. A broadcast has only one tensor, so the
     * root's data is first copied into the new tensor.
     */
    private Collective ready(DeviceTensor out) {
        if (call.kind() == CollectiveKind.BROADCAST) {
            if (dispatch.rank() == call.root()) {
                dispatch.copy(call.kind().label(), (DeviceTensor) call.in(), out);
            }
            return Collective.broadcast(out, call.root());
        }
        return out == null ? call : call.on(call.in(), out);
    }

    private static void free(DeviceTensor out, Throwable failure) {
        if (out == null) {
            return;
        }
        try {
            GpuCollectives.free(out);
        } catch (RuntimeException second) {
            failure.addSuppressed(second);
        }
    }

    private static long[] joined(long[] shape, int parts) {
        if (shape.length == 0) {
            return new long[] {parts};
        }
        long[] joined = shape.clone();
        joined[0] = Math.multiplyExact(shape[0], (long) parts);
        return joined;
    }

    /**
     * Returns the shape of one part, whose first dimension is divided by {@code parts}. If {@code parts} divides the
     * number of elements but not the first dimension, the part is one-dimensional.
     */
    private static long[] part(CollectiveKind kind, long[] shape, int parts) {
        long elements = Arrays.stream(shape).reduce(1, Math::multiplyExact);
        if (elements % parts != 0) {
            throw new IllegalArgumentException(kind + ": input " + Arrays.toString(shape) + " has " + elements
                    + " elements, not a multiple of world size " + parts);
        }
        if (shape.length == 0 || shape[0] % parts != 0) {
            return new long[] {elements / parts};
        }
        long[] part = shape.clone();
        part[0] = shape[0] / parts;
        return part;
    }
}
