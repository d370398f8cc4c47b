/**
 * Memory that processes of one host share. A segment is a file of a file system in memory, which all processes of a
 * group on the host map. Back end {@code tcp} uses segments between ranks of one host. {@code -Dferro.backend=shm}
 * refuses other media for data.
 *
 * <p>Start reading at {@code ShmMemoryProvider}. {@code Segment} creates a segment in such a way that a write to the
 * segment never fails. {@code SegmentCleaner} removes the file of a process that was killed while it created a segment.
 * {@code ShmMemory} opens the segments of the other ranks. The engine decides which calls use segments.
 *
 * <p>Code in this package does not wait for another rank, and does not exchange the offers of segments.
 */
package ferro.backend.shm;
