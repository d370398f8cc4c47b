package ferro.dispatch;

import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.Work;
import ferro.dispatch.HostFallback.Message;
import java.time.Duration;

/** The route of a checked call. */
sealed interface Route permits NcclRoute, HostRoute {
    void run(Collective call, Duration timeout);

    Work submit(Collective call, Duration timeout);

    Work transfer(Message message, Duration timeout);

    /** Allocates the tensor of a fresh result; {@code operation} is for exception messages. */
    DeviceTensor allocate(String operation, DataType dataType, long[] shape);

    /** Copies the root's data into its fresh tensor; the next submitted call comes after the copy. */
    void copy(String operation, DeviceTensor from, DeviceTensor to);
}
