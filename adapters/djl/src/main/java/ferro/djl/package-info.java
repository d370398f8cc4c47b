/**
 * Data-parallel training of models of the Deep Java Library (DJL). Each rank is a process with the full model and a
 * part of the data. All ranks apply the average of their gradients.
 *
 * <p>Start reading at {@link ferro.djl.DistributedOptimizer}. Any training loop of DJL can use this optimizer instead
 * of its own.
 *
 * <p>This package identifies parameters by their names. This package never uses DJL's ids of parameters, because these
 * ids differ from process to process. The package uses only the public API of DJL and never the internals of an engine.
 * A parameter of DJL is a {@link ai.djl.nn.Parameter}. A parameter of ferro is a {@link ferro.training.Parameter}.
 */
package ferro.djl;
