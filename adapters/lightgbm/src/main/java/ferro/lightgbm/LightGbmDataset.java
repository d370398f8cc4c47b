package ferro.lightgbm;

import static java.util.Objects.requireNonNull;

import ferro.HostTensor;
import ferro.lightgbm.ffi.LightGbmFunctions;
import java.util.List;

/** This rank's rows in LightGBM's bins, made by {@link LightGbmNetwork#dataset}. Belongs to its network's thread. */
public final class LightGbmDataset extends LightGbmHandle {
    private final int rows;
    private final int columns;
    private final String parameters;

    private LightGbmDataset(LightGbmNetwork network, long address, LightGbmRows rows, String parameters) {
        super(network, address);
        this.rows = rows.count;
        this.columns = rows.columns;
        this.parameters = parameters;
    }

    static LightGbmDataset of(LightGbmNetwork network, LightGbmRows rows, float[] labels, String parameters) {
        return of(network, rows, labels, parameters, 0);
    }

    private static LightGbmDataset of(
            LightGbmNetwork network, LightGbmRows rows, float[] labels, String parameters, long reference) {
        long[] out = new long[1];
        network.call("data set", () -> rows.createDataset(parameters, reference, out));
        LightGbmDataset data = new LightGbmDataset(network, out[0], rows, parameters);
        data.set("label", labels);
        return data;
    }

    /**
     * Makes a data set for the validation of a model that is trained with this data. It has the bins of this data. All
     * ranks make this call.
     *
     * @param values values, row by row, with the same number of columns as this data
     * @param labels label of each row
     * @return data set, closed with the network
     * @throws IllegalArgumentException if on any rank the sizes do not fit, the values have another type, or there are no
     *     rows; the text names the rank
     * @throws IllegalStateException    if this data is closed, or belongs to another thread
     * @throws ferro.FerroException     if the group has failed; NATIVE if LightGBM reports an error
     */
    public LightGbmDataset validation(HostTensor values, float[] labels) {
        requireNonNull(values, "values");
        requireNonNull(labels, "labels");
        long reference = address("validation data");
        LightGbmRows rows = network()
                .checkedOnAllRanks(
                        "validation data",
                        () -> LightGbmRows.labelled(values, columns, labels),
                        () -> List.of("columns=" + columns));
        return of(network(), rows, labels, parameters, reference);
    }

    /**
     * Makes a data set for validation, as {@link #validation(HostTensor, float[])} does.
     *
     * @param values values, row by row, with the same number of columns as this data
     * @param labels label of each row
     * @return data set, closed with the network
     * @throws IllegalArgumentException if on any rank the sizes do not fit or there are no rows; the text names the rank
     * @throws IllegalStateException    if this data is closed, or belongs to another thread
     * @throws ferro.FerroException     if the group has failed; NATIVE if LightGBM reports an error
     */
    public LightGbmDataset validation(double[] values, float[] labels) {
        return validation(HostTensor.of(requireNonNull(values, "values")), labels);
    }

    /**
     * Sets the weight of each row.
     *
     * @param weights weights, one per row
     * @throws IllegalArgumentException if the number of weights is not the number of rows
     * @throws IllegalStateException    if this data is closed, or belongs to another thread
     * @throws ferro.FerroException     if the group has failed; NATIVE if LightGBM reports an error
     */
    public void weights(float[] weights) {
        LightGbmRows.requireLength("weights", requireNonNull(weights, "weights"), rows);
        set("weight", weights);
    }

    /** {@return the number of rows of this rank} */
    public int rows() {
        return rows;
    }

    /** {@return the number of values of a row} */
    public int columns() {
        return columns;
    }

    private void set(String field, float[] values) {
        long handle = address(field);
        network()
                .call(
                        field,
                        () -> LightGbmFunctions.LGBM_DatasetSetField(
                                handle, field, values, values.length, LightGbmFunctions.FLOAT32));
    }

    @Override
    int free(long handle) {
        return LightGbmFunctions.LGBM_DatasetFree(handle);
    }

    @Override
    public String toString() {
        return "LightGBM data set of " + rows + " rows and " + columns + " columns";
    }
}
