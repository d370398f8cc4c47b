/**
 * Memory that processes of one host share: segments in files of a file system in memory, which all of them map. Back
 * end {@code tcp} uses it where ranks share a host; {@code -Dferro.backend=shm} refuses other media for data.
 *
 * <p>Start reading at {@code ShmMemoryProvider}. {@code Segment} shows how a segment is made so that writing to it
 * never fails and a process that is killed meanwhile leaves nothing. {@code ShmMemory} shows how the other ranks open
 * it. The engine decides what runs over it.
 *
 * <p>Code in this package does not wait for another rank, and does not know how offers are exchanged.
 */
package ferro.backend.shm;
