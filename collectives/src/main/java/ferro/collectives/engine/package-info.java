/**
 * The engine of a group: {@code GroupEngine} takes the calls, {@code EngineParts} has its parts, and {@code FailureSettlement} and
 * {@code Closing} end them.
 *
 * <p>Below: {@code exec} runs collectives, {@code p2p} moves messages, {@code progress} makes progress on both, {@code shm} finds
 * the ranks of one host, {@code operands} cuts memory into chunks, and
 * {@code plain} serves a back end that only sends and receives. Nothing here opens a socket or reads the environment.
 */
package ferro.collectives.engine;
