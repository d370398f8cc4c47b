/**
 * The flight recorder: the last operations and events of one rank, kept in memory and written to a file when a group fails, or
 * when somebody asks.
 *
 * <p>Start at {@link ferro.recorder.FlightRecorder}, one per rank, then {@link ferro.recorder.GroupRecorder}, which back ends call
 * for every operation, then {@code OperationRing}, where it is kept. What a file looks like says {@code RecordWriter}, and
 * docs/operations.md.
 *
 * <p>Nothing on the way of an operation takes a lock, reads a clock or allocates. Nothing here throws into a call of the user
 * but for a folder that cannot be written when a group is joined. Contents of tensors and secrets have no place in a record.
 */
package ferro.recorder;
