package ferro.dispatch;

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
 * <p>Found by {@link java.util.ServiceLoader}; the constructor must load nothing. It keeps nothing of its own: pools live in
 * the context. Whether it may be used at all is not its question: the caller has asked the gate and has warned.
 *
 * <p>Failures: what the copy to the host or the collective throws arrives as it is; a failure of the copy back is a
 * {@link ferro.FerroTransferException} with its cause.
 */
public interface HostFallback {
    /**
     * Returns why it cannot work here.
     *
     * @param context settings, and what the groups of this rank share
     * @return empty if it can; otherwise the missing artifact or the reason of the device memory
     */
    Optional<String> unavailableBecause(RankContext context);

    /**
     * Returns why it does not take a call that the host back end itself would take; asked before anybody is warned of the
     * slow way, so it moves nothing and makes nothing.
     *
     * @param call    operation on device tensors; those of a fresh result have no address yet
     * @param context settings
     * @return empty if {@link #submit} takes it
     * @throws IllegalArgumentException if a setting makes no sense
     */
    default Optional<String> unsupportedBecause(Collective call, RankContext context) {
        return Optional.empty();
    }

    /**
     * Returns why it does not take a message; asked like the question for collectives.
     *
     * @param message operation
     * @return empty if {@link #transfer} takes it
     */
    default Optional<String> unsupportedBecause(Message message) {
        return Optional.empty();
    }

    /**
     * Starts a collective. The calls given to one host back end are handed over to it in the order of submit.
     *
     * @param call    operation on device tensors, checked; or one on host tensors that must come behind such ones
     * @param host    where the host tensors go
     * @param context settings, and what the groups of this rank share
     * @param timeout from now to the end
     * @return handle; done when the results are back on the device
     */
    Work submit(Collective call, CollectiveBackend host, RankContext context, Duration timeout);

    /**
     * Returns whether calls are still to be handed over to a host back end. Whoever has a call on host tensors for it then
     * gives that to {@link #submit} too: all ranks must hand over their calls in one order.
     *
     * @param host     back end
     * @param context  settings, and what the groups of this rank share
     * @param patience how long to wait for it to become false; zero only looks
     * @return true if some are left; false for one that hands over within {@code submit}
     */
    default boolean isBusy(CollectiveBackend host, RankContext context, Duration patience) {
        return false;
    }

    /**
     * Starts a send or a receive.
     *
     * @param message operation, checked
     * @param host    where the host tensors go
     * @param context settings, and what the groups of this rank share
     * @param timeout from now to the end
     * @return handle; of a receive: done when the elements are on the device
     */
    Work transfer(Message message, CollectiveBackend host, RankContext context, Duration timeout);

    /**
     * A send or a receive.
     *
     * @param sends  whether this rank sends
     * @param tensor what, or where to
     * @param peer   the other rank
     * @param tag    0 and up
     */
    record Message(boolean sends, DeviceTensor tensor, int peer, int tag) {
        /**
         * Refuses null.
         *
         * @param sends  whether this rank sends
         * @param tensor what, or where to
         * @param peer   the other rank
         * @param tag    0 and up
         */
        public Message {
            Objects.requireNonNull(tensor, "tensor");
        }
    }
}
