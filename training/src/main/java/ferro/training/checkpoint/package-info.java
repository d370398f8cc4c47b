/**
 * Checkpoints of a training job that any number of ranks can write and any other number can read.
 *
 * <p>Parameters are whole safetensors files, so that other programs open them; the state of optimizers is kept by parameter name and
 * range of elements. One rename makes a checkpoint the latest one.
 *
 * <p>Start reading at {@link ferro.training.checkpoint.Checkpoints}; a save is {@code SaveRun}, a load {@code LoadRun}, and
 * {@link ferro.training.checkpoint.CheckpointStorage} is all that they know of file systems.
 * {@link ferro.training.checkpoint.StateFolder} gives each job that saves names of its own. What is read from files is not trusted:
 * {@code StrictJson}, {@code SafetensorsHeader} and {@code ObjectNames} refuse what makes no sense by a
 * {@link ferro.training.checkpoint.CheckpointException} that names the file.
 *
 * <p>Nothing here knows gradients or optimizers: it reads and writes named tensors.
 */
package ferro.training.checkpoint;
