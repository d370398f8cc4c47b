/**
 * Data-parallel training of models of the Deep Java Library (DJL): each rank is a process with the whole model and a part of the
 * data, and all of them apply the average of their gradients.
 *
 * <p>Start reading at {@link ferro.djl.DistributedOptimizer}, which any training loop of DJL takes in place of its optimizer.
 *
 * <p>Goes by names of parameters, never by DJL's ids of them, which differ from process to process. Uses the public API of DJL
 * alone, and never reaches into an engine. What DJL calls a parameter here is {@link ai.djl.nn.Parameter}; what ferro does is
 * {@link ferro.training.Parameter}.
 */
package ferro.djl;
