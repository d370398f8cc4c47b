/**
 * The storage of rank states on Hadoop file systems. Start reading at {@link ferro.spark.state.RankStateStore}.
 *
 * <p>{@link ferro.spark.state.HadoopStorage} implements the storage interface of the training module. This storage can
 * therefore also store full checkpoints of the training module.
 */
package ferro.spark.state;
