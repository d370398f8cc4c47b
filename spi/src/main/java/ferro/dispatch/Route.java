package ferro.dispatch;

import ferro.CallOptions;
import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.Message;
import ferro.Work;

/** The route of a checked call. */
sealed interface Route permits NcclRoute, HostRoute {
    void run(Collective call, CallOptions options);

    Work submit(Collective call, CallOptions options);

    Work transfer(Message message, CallOptions options);

    /** Allocates the tensor of a fresh result. Exception messages contain {@code operation}. */
    DeviceTensor allocate(String operation, DataType dataType, long[] shape);

    /** Copies the root's data into its fresh tensor. The next submitted call runs after the copy. */
    void copy(String operation, DeviceTensor from, DeviceTensor to);
}
