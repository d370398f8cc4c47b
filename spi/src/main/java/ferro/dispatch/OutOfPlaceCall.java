package ferro.dispatch;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DeviceTensor;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.Work;
import java.lang.ref.Reference;
import java.util.Objects;

/**
 * A call whose result is a new tensor. The call is checked before the memory of the result is allocated; until then, a
 * template tensor with a shape and no memory takes the place of the result. If the call fails, the memory is freed.
 */
final class OutOfPlaceCall {
    private final Dispatch dispatch;
    private final Collective call;
    private final DeviceTensor template;

    /** Creates a call with the template as output. The template is null if this rank receives no result. */
    private OutOfPlaceCall(Dispatch dispatch, Collective call, DeviceTensor template) {
        this.dispatch = dispatch;
        this.call = call;
        this.template = template;
    }

    static OutOfPlaceCall allReduce(Dispatch dispatch, DeviceTensor in, ReduceOp op) {
        DeviceTensor out = like(in, given(in).shape());
        return new OutOfPlaceCall(dispatch, Collective.allReduce(in, out, op), out);
    }

    static OutOfPlaceCall broadcast(Dispatch dispatch, DeviceTensor in, int root) {
        return new OutOfPlaceCall(dispatch, Collective.broadcast(given(in), root), like(in, in.shape()));
    }

    static OutOfPlaceCall reduce(Dispatch dispatch, DeviceTensor in, ReduceOp op, int root) {
        if (dispatch.rank() != root) {
            return new OutOfPlaceCall(dispatch, Collective.reduce(given(in), op, root), null);
        }
        DeviceTensor out = like(in, given(in).shape());
        return new OutOfPlaceCall(dispatch, Collective.reduce(in, out, op, root), out);
    }

    static OutOfPlaceCall allGather(Dispatch dispatch, DeviceTensor in) {
        DeviceTensor out = like(in, Shapes.joined(given(in).shape(), dispatch.worldSize()));
        return new OutOfPlaceCall(dispatch, Collective.allGather(in, out), out);
    }

    static OutOfPlaceCall reduceScatter(Dispatch dispatch, DeviceTensor in, ReduceOp op) {
        DeviceTensor out =
                like(in, Shapes.part(CollectiveKind.REDUCE_SCATTER, given(in).shape(), dispatch.worldSize()));
        return new OutOfPlaceCall(dispatch, Collective.reduceScatter(in, out, op), out);
    }

    static OutOfPlaceCall gather(Dispatch dispatch, DeviceTensor in, int root) {
        if (dispatch.rank() != root) {
            return new OutOfPlaceCall(dispatch, Collective.gather(given(in), root), null);
        }
        DeviceTensor out = like(in, Shapes.joined(given(in).shape(), dispatch.worldSize()));
        return new OutOfPlaceCall(dispatch, Collective.gather(in, out, root), out);
    }

    static OutOfPlaceCall scatter(Dispatch dispatch, DeviceTensor in, int root) {
        InvalidRankException.check(CollectiveKind.SCATTER.label(), "root", root, dispatch.worldSize());
        DeviceTensor out =
                like(in, Shapes.part(CollectiveKind.SCATTER, given(in).shape(), dispatch.worldSize()));
        Collective call = dispatch.rank() == root ? Collective.scatter(in, out, root) : Collective.scatter(out, root);
        return new OutOfPlaceCall(dispatch, call, out);
    }

    static OutOfPlaceCall allToAll(Dispatch dispatch, DeviceTensor in) {
        DeviceTensor out = like(in, given(in).shape());
        return new OutOfPlaceCall(dispatch, Collective.allToAll(in, out), out);
    }

    /** Runs the call. Returns the result after the call has ended, or null if this rank receives no result. */
    DeviceTensor run() {
        Route route = dispatch.openFresh(call);
        DeviceTensor out = allocate(route);
        try {
            route.run(ready(route, out), dispatch.options());
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
        Route route = dispatch.openFresh(call);
        DeviceTensor out = allocate(route);
        try {
            Work work = route.submit(ready(route, out), dispatch.options());
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

    private DeviceTensor allocate(Route route) {
        return template == null ? null : route.allocate(call.kind().label(), template.dataType(), template.shape());
    }

    /**
     * Returns the call with the allocated tensor in place of the template. A broadcast has only one tensor, so the
     * root's data is first copied into the new tensor.
     */
    private Collective ready(Route route, DeviceTensor out) {
        if (call.kind() == CollectiveKind.BROADCAST) {
            if (dispatch.rank() == call.root()) {
                route.copy(call.kind().label(), (DeviceTensor) call.in(), out);
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

    private static DeviceTensor given(DeviceTensor in) {
        return Objects.requireNonNull(in, "input");
    }

    private static DeviceTensor like(DeviceTensor in, long[] shape) {
        return new DeviceTensor(in.dataType(), shape, 0, in.device(), null);
    }
}
