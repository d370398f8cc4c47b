/**
 * The flight recorder: the last operations and events of one rank, kept in memory and written to a file when a group
 * fails, or on request.
 *
 * <p>Start at {@link ferro.recorder.FlightRecorder}, one per rank, then {@link ferro.recorder.GroupRecorder}, which back
 * ends call for every operation, then {@code OperationRing}, which keeps the operations. {@code RecordWriter} and
 * docs/operations.md describe the format of the file. {@link ferro.recorder.WaitGraph} says who keeps the others waiting:
 * ranks judge by it at a deadline, and {@code ferro analyze} by their files.
 *
 * <p>Nothing on the path of an operation takes a lock, reads a clock or allocates. Nothing here throws into a call of the
 * user, except for a folder that cannot be written when a group is joined. A record never contains contents of tensors or
 * secrets.
 */
package ferro.recorder;
