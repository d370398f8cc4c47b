/**
 * Checkpoints of a training job. Any number of ranks can save a checkpoint, and any other number of ranks can load the
 * checkpoint.
 *
 * <p>Each parameter is stored as one complete tensor in a safetensors file, so other programs can open the file. The
 * state of an optimizer is stored by parameter name and range of elements. One rename makes a checkpoint the latest
 * checkpoint.
 *
 * <p>Start reading at {@link ferro.training.checkpoint.Checkpoints}. {@code SaveRun} is one save, and {@code LoadRun}
 * is one load. {@code SaveRun} and {@code LoadRun} access files only through
 * {@link ferro.training.checkpoint.CheckpointStorage}. {@link ferro.training.checkpoint.StateFolder} gives each saving
 * job unique object names.
 *
 * <p>Content that is read from files is not trusted. {@code JsonCodec}, {@code SafetensorsHeader} and
 * {@code ObjectNames} check content from files, and throw a {@link ferro.training.checkpoint.CheckpointException} that
 * names the file.
 *
 * <p>The package reads and writes named tensors. The package does not depend on gradients or optimizers.
 */
package ferro.training.checkpoint;
