/**
 * The report that {@code gpu/report} prints on a machine with a GPU: whether the rules of docs/contract.md hold on its memory,
 * what only a GPU shows (streams, codes of the libraries, death and delay of a rank that has work on a device), and how fast
 * it is.
 *
 * <p>Start reading at {@link ferro.gpu.GpuReport}, which runs the parts ({@code ReportPart}), each in processes of its own.
 * {@code PartProgram} is such a process, {@code KitRules} runs the rules there, and {@code FindingsPrinter} prints its
 * findings.
 *
 * <p>A failed check gives a line and never ends the report, not even if it ends its JVM. Nothing here reads the environment.
 */
package ferro.gpu;
