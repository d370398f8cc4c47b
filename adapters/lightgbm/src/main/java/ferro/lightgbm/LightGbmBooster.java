package ferro.lightgbm;

import static java.util.Objects.requireNonNull;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.lightgbm.ffi.LightGbmFunctions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A model that the ranks of a group train. {@link LightGbmNetwork#booster} makes it. All ranks call {@link #update} and
 * {@link #metrics} equally often. Belongs to the thread of its network.
 *
 * <p>A model can be read only while no call of its network has failed: after a failure {@link #modelString}, {@link
 * #predict} and all other methods throw the failure.
 */
public final class LightGbmBooster extends LightGbmHandle {
    private static final int ALL_ITERATIONS = -1;
    private static final int INITIAL_MODEL_BYTES = 1 << 16;

    private final LightGbmDataset data;
    private final String parameters;
    private final List<LightGbmDataset> validations = new ArrayList<>();
    private int iterations;

    private LightGbmBooster(LightGbmNetwork network, long address, LightGbmDataset data, String parameters) {
        super(network, address);
        this.data = data;
        this.parameters = parameters;
    }

    static LightGbmBooster of(LightGbmNetwork network, LightGbmDataset data, String parameters) {
        long handle = data.address("booster");
        long[] out = new long[1];
        network.call("booster", () -> LightGbmFunctions.LGBM_BoosterCreate(handle, parameters, out));
        return new LightGbmBooster(network, out[0], data, parameters);
    }

    /**
     * Trains one iteration with the rows of all ranks: one tree, or one tree per class. All ranks make this call.
     *
     * @return true if the model has new trees; false if LightGBM found no split, on any rank
     * @throws IllegalStateException if the booster or its data is closed, or belongs to another thread
     * @throws ferro.FerroException  if the group fails or has failed; the message has rank, host and iteration. NATIVE if
     *     LightGBM reports an error
     */
    public boolean update() {
        long handle = address("update");
        data.address("update");
        int[] finished = new int[1];
        network().call("iteration " + iterations, () -> LightGbmFunctions.LGBM_BoosterUpdateOneIter(handle, finished));
        if (finished[0] == 0) {
            iterations++;
        }
        return finished[0] == 0;
    }

    /** {@return the number of iterations that have added trees} */
    public int iterations() {
        return iterations;
    }

    /**
     * Adds data on which {@link #metrics} evaluates the model. All ranks add data in the same order.
     *
     * @param validation this rank's rows for validation, made by {@link LightGbmDataset#validation}
     * @return index for {@link #metrics}, from 0
     * @throws IllegalArgumentException if the data belongs to another network
     * @throws IllegalStateException    if the booster is closed, or belongs to another thread
     * @throws ferro.FerroException     if the group has failed; NATIVE if LightGBM reports an error
     */
    public int addValidation(LightGbmDataset validation) {
        network().requireOwn(requireNonNull(validation, "validation"));
        long handle = address("validation");
        long added = validation.address("validation");
        network().call("validation", () -> LightGbmFunctions.LGBM_BoosterAddValidData(handle, added));
        validations.add(validation);
        return validations.size() - 1;
    }

    /**
     * Evaluates the model on the validation data of all ranks. LightGBM computes each metric on one rank's rows only. This
     * method returns the mean over all ranks, weighted by rows, which has the same bits on every rank. For a metric that
     * is a mean over rows, such as {@code l2} or {@code binary_logloss}, this is the metric of all rows. For others, such
     * as {@code auc} and {@code rmse}, it is a mean of the metrics of the ranks. All ranks make this call.
     *
     * @param validation index that {@link #addValidation} has returned
     * @return values of the metrics in the order of the parameter {@code metric}
     * @throws IndexOutOfBoundsException if there is no such data
     * @throws IllegalStateException     if the booster is closed, or belongs to another thread
     * @throws ferro.FerroException      if the group fails or has failed; NATIVE if LightGBM reports an error
     */
    public double[] metrics(int validation) {
        long handle = address("metrics");
        int rows = validations.get(validation).rows();
        int[] count = new int[1];
        network().call("metrics", () -> LightGbmFunctions.LGBM_BoosterGetEvalCounts(handle, count));
        double[] values = new double[count[0]];
        // LightGBM counts the training data as 0
        network().call("metrics", () -> LightGbmFunctions.LGBM_BoosterGetEval(handle, validation + 1, count, values));
        double[] sums = new double[values.length + 1];
        for (int metric = 0; metric < values.length; metric++) {
            sums[metric] = values[metric] * rows;
        }
        sums[values.length] = rows;
        network().group().allReduce(sums, ReduceOp.SUM);
        for (int metric = 0; metric < values.length; metric++) {
            values[metric] = sums[metric] / sums[values.length];
        }
        return values;
    }

    /**
     * Predicts with all trees. Uses no network, so a rank may call it alone.
     *
     * @param rows values, row by row, with the same number of columns as the data
     * @return predictions, row by row, with one value per class
     * @throws IllegalArgumentException if the sizes do not fit, or the values have another type
     * @throws IllegalStateException    if the booster is closed, or belongs to another thread
     * @throws ferro.FerroException     if the group has failed in a training call; NATIVE if LightGBM reports an error
     */
    public double[] predict(HostTensor rows) {
        return predict(rows, ALL_ITERATIONS);
    }

    /**
     * Predicts with the trees of the first iterations. Uses no network, so a rank may call it alone.
     *
     * @param rows       values, row by row, with the same number of columns as the data
     * @param iterations number of iterations, such as {@link EarlyStopping#bestIteration}; -1 for all
     * @return predictions, row by row, with one value per class
     * @throws IllegalArgumentException if the sizes do not fit, or the values have another type
     * @throws IllegalStateException    if the booster is closed, or belongs to another thread
     * @throws ferro.FerroException     if the group has failed in a training call; NATIVE if LightGBM reports an error
     */
    public double[] predict(HostTensor rows, int iterations) {
        long handle = address("predict");
        LightGbmRows all = LightGbmRows.of(rows, data.columns());
        int[] classes = new int[1];
        network().call("predict", () -> LightGbmFunctions.LGBM_BoosterGetNumClasses(handle, classes));
        double[] out = new double[Math.multiplyExact(all.count, classes[0])];
        // without num_threads, LightGBM would use all cores, also in later iterations of this thread
        network().call("predict", () -> all.predict(handle, iterations, parameters, out));
        return out;
    }

    /**
     * Returns the model as LightGBM's text, which every version and language of LightGBM reads. All ranks have the same
     * trees. The parameters in the text may differ.
     *
     * @return text
     * @throws IllegalStateException if the booster is closed, or belongs to another thread
     * @throws ferro.FerroException  if the group has failed in a training call; NATIVE if LightGBM reports an error
     */
    public String modelString() {
        return modelString(ALL_ITERATIONS);
    }

    /**
     * {@return the model of the first iterations as LightGBM's text}
     *
     * @param iterations number of iterations, such as {@link EarlyStopping#bestIteration}; -1 for all
     * @throws IllegalStateException if the booster is closed, or belongs to another thread
     * @throws ferro.FerroException  if the group has failed in a training call; NATIVE if LightGBM reports an error
     */
    public String modelString(int iterations) {
        long handle = address("model");
        long[] needed = {INITIAL_MODEL_BYTES};
        byte[] text;
        do {
            byte[] buffer = new byte[Math.toIntExact(needed[0])];
            network()
                    .call(
                            "model",
                            () -> LightGbmFunctions.LGBM_BoosterSaveModelToString(
                                    handle, 0, iterations, 0, buffer.length, needed, buffer));
            text = buffer;
        } while (needed[0] > text.length);
        // the last byte ends the C string
        return new String(text, 0, (int) needed[0] - 1, StandardCharsets.UTF_8);
    }

    @Override
    int free(long handle) {
        return LightGbmFunctions.LGBM_BoosterFree(handle);
    }

    @Override
    public String toString() {
        return "LightGBM booster of " + iterations + " iterations";
    }
}
