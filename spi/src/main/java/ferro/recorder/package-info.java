/**
 * The flight recorder. The recorder keeps the last operations and events of one rank in memory, and writes them to a
 * file when a group fails, or on request.
 *
 * <p>Start at {@link ferro.recorder.FlightRecorder}. Each rank has one flight recorder. Then read
 * {@link ferro.recorder.GroupRecorder}, which back ends call for every operation, and {@code OperationRing}, which
 * keeps the operations. {@code RecordWriter} and docs/operations.md describe the format of the file.
 *
 * <p>A report of an operation takes no lock, reads no clock and allocates no memory. The recorder throws no exception
 * into a call of the user, except that a join fails if the folder of the recorder cannot be written. A record never
 * contains elements of tensors or secrets.
 */
package ferro.recorder;
