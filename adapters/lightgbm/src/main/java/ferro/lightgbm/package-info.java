/**
 * Distributed training of LightGBM models. Each rank has a part of the rows. The ranks of a group train one model, and
 * every rank has the same model after every iteration.
 *
 * <p>Start reading at {@link ferro.lightgbm.LightGbmNetwork}, which connects LightGBM's C library with a group.
 *
 * <p>LightGBM keeps its network per thread. Every object of this package belongs to the thread that made it. This package
 * never returns a model that was trained with data of a failed call.
 */
package ferro.lightgbm;
