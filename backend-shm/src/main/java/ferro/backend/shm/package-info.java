/**
 * Memory that processes of one host share: segments in files of a file system that lives in memory, mapped by all of them.
 *
 * <p>Start reading at {@code ShmMemoryProvider}; {@code Segment} says how a segment is made so that writing to it can
 * never fail and nothing is left of a process that is killed meanwhile, {@code ShmMemory} how the other ranks come to
 * it. What runs over it is the engine's.
 *
 * <p>Nothing here waits for another rank, and nothing here knows who sends offers to and fro.
 */
package ferro.backend.shm;
