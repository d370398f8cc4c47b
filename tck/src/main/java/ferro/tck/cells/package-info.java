/**
 * The independent oracle of the contract kit. The package has single calls of every kind, type and memory, and plain
 * arithmetic that computes the expected results.
 *
 * <p>Start reading at {@code Cell}, then {@code CellCall} and {@code ReferenceMath}. No class of this package uses code of
 * the engine, so that the oracle does not repeat an error of the engine.
 */
package ferro.tck.cells;
