/**
 * Examples of device tensors, in memory that ferro allocates and in memory that another library owns.
 *
 * <p>Start at {@link ferro.examples.device.DeviceAllReduce}, then {@link ferro.examples.device.ForeignPointer}.
 * {@code DeviceFloats} copies between arrays and devices. {@code DeviceRunner} joins the group and prints the result.
 *
 * <p>The programs choose no back end. Over NCCL the tensors stay on their devices. Over other back ends the tensors are
 * copied through host memory, if the user allows such copies. The code of the programs is the same for all back ends.
 */
package ferro.examples.device;
