/**
 * State of ranks on the file systems of Hadoop. Start reading at {@link ferro.spark.state.RankState}.
 *
 * <p>{@link ferro.spark.state.HadoopStorage} implements the storage interface of the training module, so it takes whole
 * checkpoints of that module, too.
 */
package ferro.spark.state;
