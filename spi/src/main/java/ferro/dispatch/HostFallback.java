package ferro.dispatch;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.Message;
import ferro.Work;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.Optional;

/**
 * A service that runs a call on device tensors through host memory. The service copies data from the device to the
 * host, runs the collective on a host back end, and copies the result from the host to the device.
 *
 * <p>{@link java.util.ServiceLoader} finds the implementation. The constructor must not load native libraries. An
 * implementation has no state, since the context holds its memory pools. The service does not check the settings, since
 * the caller has checked the {@link FallbackDecision} and logged the warning.
 *
 * <p>An exception of the copy to the host or of the collective is thrown unchanged. If the copy back to the device
 * fails, a {@link ferro.FerroTransferException} with the cause is thrown.
 */
public interface HostFallback {
    /**
     * Returns why the fallback cannot be used in this process.
     *
     * @param context settings, and the objects that the groups of this rank share
     * @return empty if the fallback can be used; otherwise the missing artifact, or the reason that the device memory
     *     gives
     */
    Optional<String> unavailableBecause(RankContext context);

    /**
     * Returns why the fallback does not support a call that the host back end supports. This method runs before the
     * warning about the slow path, so it must not move data or allocate memory.
     *
     * @param call    operation on device tensors; the tensor of a fresh result has address 0
     * @param context settings
     * @return reason; empty if {@link #submit} supports the call
     * @throws IllegalArgumentException if a setting has an invalid value
     */
    default Optional<String> unsupportedBecause(Collective call, RankContext context) {
        return Optional.empty();
    }

    /**
     * Returns why the fallback does not support a send or a receive. Like the method for collectives, this method must
     * not move data or allocate memory.
     *
     * @param message send or receive of a device tensor
     * @return reason; empty if {@link #transfer} supports the message
     */
    default Optional<String> unsupportedBecause(Message message) {
        return Optional.empty();
    }

    /**
     * Starts a collective. Calls are passed to a host back end in the order in which they are submitted.
     *
     * @param call    checked operation on device tensors; or an operation on host tensors that must run after
     *     operations on device tensors
     * @param host    back end for the host tensors
     * @param context settings, and the objects that the groups of this rank share
     * @param options label, and time limit from this call to the end of the operation
     * @return handle, which is done when the results are on the device again
     */
    Work submit(Collective call, CollectiveBackend host, RankContext context, CallOptions options);

    /**
     * Returns whether calls are left that have not yet been passed to a host back end. If calls are left, a call on
     * host tensors for the host back end must go through {@link #submit} too. All ranks must pass their calls to the
     * back end in the same order.
     *
     * @param host     back end for the host tensors
     * @param context  settings, and the objects that the groups of this rank share
     * @param timeout maximum wait until no calls are left; zero does not wait
     * @return true if calls are left; false from a fallback that passes calls on within {@code submit}
     */
    default boolean isBusy(CollectiveBackend host, RankContext context, Duration timeout) {
        return false;
    }

    /**
     * Starts a send or a receive.
     *
     * @param message send or receive of a device tensor, already checked
     * @param host    back end for the host tensors
     * @param context settings, and the objects that the groups of this rank share
     * @param options label, and time limit from this call to the end of the operation
     * @return handle; the handle of a receive is done when the elements are on the device
     */
    Work transfer(Message message, CollectiveBackend host, RankContext context, CallOptions options);
}
