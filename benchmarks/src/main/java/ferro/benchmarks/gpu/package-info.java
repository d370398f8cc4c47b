/**
 * The report that {@code gpu/report} prints on a machine with a GPU: what works there, compared with plain loops on the
 * host, and how fast it is.
 *
 * <p>Start reading at {@link ferro.benchmarks.gpu.GpuReport}, which runs the parts ({@code ReportPart}), each in processes
 * of its own. {@code PartProgram} is such a process, and {@code FindingsPrinter} prints its findings.
 *
 * <p>A failed check gives a line and never ends the report, not even if it ends its JVM. Nothing here reads the environment.
 */
package ferro.benchmarks.gpu;
