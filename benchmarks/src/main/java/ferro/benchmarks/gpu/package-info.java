/**
 * The report that {@code gpu/report} prints on a machine with a GPU: what works there, against results of plain loops on the
 * host, and how fast it is.
 *
 * <p>Start reading at {@link ferro.benchmarks.gpu.GpuReport}, which runs the parts ({@code Part}), each in processes of its
 * own; {@code PartProgram} is such a process, {@code Findings} what it prints.
 *
 * <p>A check that fails is a line and never the end of the report, not even if it ends its JVM. Nothing here reads the
 * environment.
 */
package ferro.benchmarks.gpu;
