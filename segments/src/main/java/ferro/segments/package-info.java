/**
 * Tensors over {@link java.lang.foreign.MemorySegment}, without a copy. Start reading at {@code Segments}.
 *
 * <p>This package only views memory. It calls no native function, allocates no memory, and opens or closes no arena.
 */
package ferro.segments;
