package ferro.dispatch;

import ferro.DeviceTensor;
import ferro.Work;
import java.util.Objects;

/**
 * The handle of a pending call together with the new tensor of its result.
 *
 * @param tensor tensor of the result, which the caller must not use before the work is done; null on a rank that is not
 *     the root of a reduce or gather. If the work fails, the tensor is freed automatically; otherwise the caller frees
 *     it with {@link GpuCollectives#free}
 * @param work   handle of the call
 */
public record OutOfPlaceResult(DeviceTensor tensor, Work work) {
    /**
     * Checks that the work is not null.
     *
     * @param tensor tensor of the result, which the caller must not use before the work is done; null if this rank
     *     receives no result
     * @param work   handle of the call
     */
    public OutOfPlaceResult {
        Objects.requireNonNull(work, "work");
    }

    /**
     * Waits until the call has ended, and returns the result.
     *
     * @return tensor, which any stream may read; null if this rank receives no result
     * @throws ferro.FerroException if the call failed; the tensor has then been freed
     */
    public DeviceTensor await() {
        work.await();
        return tensor;
    }
}
