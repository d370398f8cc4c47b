package ferro.dispatch;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.Work;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Carries a call on device tensors through host memory: device to host, the collective on a host back end, host to device.
 *
 * <p>{@link java.util.ServiceLoader} finds it; the constructor must not load anything. It has no state of its own: pools
 * are in the context. It does not check whether it may be used: the caller has checked the gate and has logged the warning.
 *
 * <p>Failures: an exception of the copy to the host or of the collective is thrown unchanged. A failure of the copy back is
 * a {@link ferro.FerroTransferException} with its cause.
 */
public interface HostFallback {
    /**
     * Returns why the fallback cannot work here.
     *
     * @param context settings, and the objects that the groups of this rank share
     * @return empty if it can; otherwise the missing artifact, or the reason that the device memory gives
     */
    Optional<String> unavailableBecause(RankContext context);

    /**
     * Returns why the fallback does not support a call that the host back end itself would support. It is called before the
     * warning about the slow path, so it moves no data and allocates nothing.
     *
     * @param call    operation on device tensors; the tensor of a fresh result has no address yet
     * @param context settings
     * @return empty if {@link #submit} supports the call
     * @throws IllegalArgumentException if a setting has an invalid value
     */
    default Optional<String> unsupportedBecause(Collective call, RankContext context) {
        return Optional.empty();
    }

    /**
     * Returns why the fallback does not support a message. It is called under the same rules as the method for collectives.
     *
     * @param message operation
     * @return empty if {@link #transfer} supports the message
     */
    default Optional<String> unsupportedBecause(Message message) {
        return Optional.empty();
    }

    /**
     * Starts a collective. The calls for one host back end are handed over to it in the order of submit.
     *
     * @param call    operation on device tensors, already checked; or an operation on host tensors that must come behind
     *     such ones
     * @param host    back end for the host tensors
     * @param context settings, and the objects that the groups of this rank share
     * @param options deadline, from now to the end, and label
     * @return handle; done when the results are back on the device
     */
    Work submit(Collective call, CollectiveBackend host, RankContext context, CallOptions options);

    /**
     * Returns whether calls are still to be handed over to a host back end. If so, the caller passes a call on host tensors
     * for that back end to {@link #submit} too, since all ranks must hand over their calls in the same order.
     *
     * @param host     back end
     * @param context  settings, and the objects that the groups of this rank share
     * @param patience longest wait for it to become false; zero does not wait
     * @return true if such calls are left; false for a fallback that hands over within {@code submit}
     */
    default boolean isBusy(CollectiveBackend host, RankContext context, Duration patience) {
        return false;
    }

    /**
     * Starts a send or a receive.
     *
     * @param message operation, already checked
     * @param host    back end for the host tensors
     * @param context settings, and the objects that the groups of this rank share
     * @param options deadline, from now to the end, and label
     * @return handle; the handle of a receive is done when the elements are on the device
     */
    Work transfer(Message message, CollectiveBackend host, RankContext context, CallOptions options);

    /**
     * A send or a receive.
     *
     * @param sends  whether this rank sends
     * @param tensor data, or destination of a receive
     * @param peer   the other rank
     * @param tag    0 and up
     */
    record Message(boolean sends, DeviceTensor tensor, int peer, int tag) {
        /**
         * Refuses null.
         *
         * @param sends  whether this rank sends
         * @param tensor data, or destination of a receive
         * @param peer   the other rank
         * @param tag    0 and up
         */
        public Message {
            Objects.requireNonNull(tensor, "tensor");
        }
    }
}
