/**
 * Device tensors: memory that ferro allocates, and memory that another library owns.
 *
 * <p>Start at {@link ferro.examples.device.DeviceAllReduce}, then {@link ferro.examples.device.ForeignPointer};
 * {@code DeviceFloats} copies between arrays and devices, {@code DeviceProgram} joins and prints.
 *
 * <p>Nothing here names a back end. Over NCCL the tensors stay on their devices; over other back ends they pass through host
 * memory, if the user allows it. The code is the same.
 */
package ferro.examples.device;
