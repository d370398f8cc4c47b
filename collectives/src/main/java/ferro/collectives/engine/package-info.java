/**
 * The engine: the queue of operations, their sequence numbers, the executors, and the progress loop.
 *
 * <p>Start reading at {@code GroupEngine}, then {@code OperationQueue} and {@code ProgressLoop}; {@code LinkExecutor} runs a plan
 * over links, {@code SharedMemoryExecutor} a program in shared memory, {@code PointToPoint} matches messages.
 *
 * <p>Nothing here opens a socket or reads the environment.
 */
package ferro.collectives.engine;
