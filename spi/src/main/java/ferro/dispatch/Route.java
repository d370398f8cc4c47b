package ferro.dispatch;

import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.Work;
import ferro.dispatch.HostFallback.Message;
import java.time.Duration;

/** The way that a checked call takes. */
sealed interface Route permits NcclRoute, HostRoute {
    void run(Collective call, Duration timeout);

    Work submit(Collective call, Duration timeout);

    Work transfer(Message message, Duration timeout);

    /** Makes the tensor that a fresh result lands in; {@code operation} is for the message. */
    DeviceTensor allocate(String operation, DataType dataType, long[] shape);

    /** Copies the root's data into its fresh tensor, before what is submitted next. */
    void copy(String operation, DeviceTensor from, DeviceTensor to);
}
