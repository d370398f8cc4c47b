/**
 * Checkpoints of a training job that any number of ranks can write and any other number can read.
 *
 * <p>Parameters are whole safetensors files, so that other programs open them; the state of optimizers is kept by parameter name and
 * range of elements. One rename makes a checkpoint the latest one.
 *
 * <p>Nothing here knows gradients or optimizers: it reads and writes named tensors.
 */
package ferro.training.checkpoint;
