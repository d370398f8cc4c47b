/**
 * The independent oracle of the kit: single calls of every kind, type and memory, and plain arithmetic that says what they must
 * give.
 *
 * <p>Start reading at {@code Cell}, then {@code CellCall} and {@code Numbers}. Nothing here uses code of the engine: an error
 * there must not be made twice.
 */
package ferro.tck.cells;
