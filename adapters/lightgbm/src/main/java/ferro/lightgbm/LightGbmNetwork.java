package ferro.lightgbm;

import static java.util.Objects.requireNonNull;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.group.Codec;
import ferro.group.ProcessGroup;
import ferro.lightgbm.ffi.LightGbmFunctions;
import ferro.lightgbm.ffi.LightGbmLibrary;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * The network of LightGBM over a group. LightGBM calls two functions of this class for everything that its ranks exchange:
 * histograms, splits, and the bins of the features. LightGBM itself is unchanged.
 *
 * {@snippet file="ferro/lightgbm/example/TrainTrees.java" region="train" :
 *
 * String parameters = "objective=binary num_leaves=31 num_threads=1 verbosity=-1";
 * try (ProcessGroup group = ProcessGroup.join();
 *         LightGbmNetwork network = LightGbmNetwork.connect(group)) {
 *     double[] values = values(rows, group.rank(), group.worldSize()); // the rows of this rank, row by row
 *     LightGbmDataset data = network.dataset(values, COLUMNS, labels(values), parameters);
 *     LightGbmBooster booster = network.booster(data, parameters);
 *     while (booster.iterations() < iterations && booster.update()) {
 *         // one more tree, from the rows of all ranks
 *     }
 *     return booster.modelString(); // every rank has the same trees
 * }
 * }
 *
 * <p>Each rank passes its own rows. All ranks make the same calls with the same parameters. The group may make other calls
 * in between, in the same order on all ranks.
 *
 * <p>LightGBM keeps its network per thread. The thread that connects must also make, use and close all objects of this
 * network; other threads get an IllegalStateException. Several threads of one JVM may each connect a group.
 *
 * <p>{@link ProcessGroup#counters} has the use of the network: all-to-alls exchange histograms, and all-gathers
 * exchange splits and bins.
 *
 * <h2>Failures</h2>
 * If a rank dies, falls silent or fails, each method that trains throws a {@link FerroException} on all other ranks. The
 * message has the rank, the host and the iteration. After this exception every method throws it again, also the methods
 * that read the model: a model with an incomplete iteration cannot be read.
 *
 * <p>If LightGBM itself reports an error, such as an unknown objective, the method throws a FerroException with the code
 * NATIVE and LightGBM's text. The group then fails on all ranks, because other ranks may wait for this rank.
 */
public final class LightGbmNetwork implements AutoCloseable {
    private final ProcessGroup group;
    private final NetworkCallbacks callbacks;
    private final Thread thread = Thread.currentThread();
    /** The newest object is first, because a booster is closed before its data. */
    private final Deque<LightGbmHandle> open = new ArrayDeque<>();

    private FerroException failure;
    private boolean isClosed;

    private LightGbmNetwork(ProcessGroup group) {
        this.group = group;
        this.callbacks = new NetworkCallbacks(group);
    }

    /**
     * Connects LightGBM with a group, with the library of the artifact {@code lightgbmlib}. All ranks make this call.
     *
     * @param group group, which must be open while the network is in use; the network does not close it
     * @return network of the calling thread
     * @throws UnsupportedOperationException if the library cannot be loaded, or JNA does not work
     */
    public static LightGbmNetwork connect(ProcessGroup group) {
        requireNonNull(group, "group");
        LightGbmLibrary.load();
        return connected(group);
    }

    /**
     * Connects LightGBM with a group, with a library file. A JVM uses only one library.
     *
     * @param group   group, which must be open while the network is in use; the network does not close it
     * @param library file such as {@code lib_lightgbm.so}
     * @return network of the calling thread
     * @throws UnsupportedOperationException if the library cannot be loaded, or JNA does not work
     * @throws IllegalStateException if this JVM has loaded another library
     */
    public static LightGbmNetwork connect(ProcessGroup group, Path library) {
        requireNonNull(group, "group");
        LightGbmLibrary.load(requireNonNull(library, "library"));
        return connected(group);
    }

    private static LightGbmNetwork connected(ProcessGroup group) {
        LightGbmNetwork network = new LightGbmNetwork(group);
        network.call(
                "connect",
                () -> LightGbmFunctions.LGBM_NetworkInitWithFunctions(
                        group.worldSize(), group.rank(), network.callbacks.reduceScatter, network.callbacks.allGather));
        return network;
    }

    /**
     * Makes a data set of this rank's rows. LightGBM copies the rows into bins. The ranks agree on the bins.
     *
     * @param rows       values, row by row; FLOAT32 or FLOAT64 in an array or a direct buffer
     * @param columns    number of values of a row
     * @param labels     label of each row
     * @param parameters LightGBM's parameters, such as {@code "max_bin=255 num_threads=1"}; the same on all ranks
     * @return data set, closed with the network
     * @throws IllegalArgumentException if a rank has no rows, sizes that do not fit, values of another type, or a parameter
     *     that contradicts the network, or if two ranks have different numbers of columns or different
     *     parameters of bins. All ranks throw it, and the text names the ranks
     * @throws IllegalStateException    if the network is closed, or belongs to another thread
     * @throws FerroException           if the group fails or has failed; NATIVE if LightGBM reports an error
     */
    public LightGbmDataset dataset(HostTensor rows, int columns, float[] labels, String parameters) {
        requireNonNull(rows, "rows");
        requireNonNull(labels, "labels");
        requireNonNull(parameters, "parameters");
        LightGbmRows checked = checkedOnAllRanks(
                "data set",
                () -> {
                    ParameterMerger.of(parameters, group.worldSize());
                    return LightGbmRows.labelled(rows, columns, labels);
                },
                () -> {
                    List<String> facts = new ArrayList<>(List.of("columns=" + columns));
                    facts.addAll(ParameterMerger.ofBins(parameters));
                    return facts;
                });
        return LightGbmDataset.of(this, checked, labels, ParameterMerger.of(parameters, group.worldSize()));
    }

    /**
     * Checks the arguments of this rank, and compares facts about them between all ranks. Refuses a call on all ranks with
     * one text if the arguments of one rank are refused, or a fact differs. LightGBM would end the process by SIGSEGV if
     * the numbers of columns differed, and would hang or fail with a MISMATCH for other parameters.
     *
     * @param check throws an IllegalArgumentException for wrong arguments
     * @param facts returns pairs {@code name=value}, in the same order on all ranks
     */
    <T> T checkedOnAllRanks(String what, Supplier<T> check, Supplier<List<String>> facts) {
        require(what);
        T checked = null;
        IllegalArgumentException refused = null;
        List<String> own = List.of();
        try {
            checked = check.get();
            own = facts.get();
        } catch (IllegalArgumentException wrong) {
            refused = wrong;
        }
        if (group.worldSize() > 1) {
            String text = refused == null ? "" : (refused.getMessage() + "").replaceAll("\\R", " ");
            List<String> texts = ofAllRanks(what, text + "\n" + String.join("\n", own));
            requireEqual(
                    what,
                    texts.stream().map(one -> List.of(one.split("\n", -1))).toList(),
                    refused);
        } else if (refused != null) {
            throw refused;
        }
        return checked;
    }

    private List<String> ofAllRanks(String what, String own) {
        try {
            return group.objects(Codec.utf8()).allGather(own);
        } catch (FerroException lost) {
            failure = failed(what, lost);
            throw failure;
        }
    }

    /** Compares what all ranks have sent: a refusal, which may be empty, and facts. */
    private void requireEqual(String what, List<List<String>> all, IllegalArgumentException refused) {
        for (int fact = 0; fact < all.get(0).size(); fact++) {
            int index = fact;
            Map<String, List<Integer>> ranks = new TreeMap<>();
            for (int rank = 0; rank < all.size(); rank++) {
                String value = index < all.get(rank).size() ? all.get(rank).get(index) : "";
                ranks.computeIfAbsent(value, first -> new ArrayList<>()).add(rank);
            }
            boolean isRefusal = fact == 0;
            if (isRefusal) {
                ranks.remove("");
            }
            if (ranks.size() > (isRefusal ? 0 : 1)) {
                List<String> texts = new ArrayList<>();
                ranks.forEach((value, who) ->
                        texts.add((who.size() == 1 ? "rank " + who.get(0) : "ranks " + who) + ": " + value));
                throw new IllegalArgumentException(
                        "LightGBM " + what + ": " + String.join("; ", texts)
                                + (isRefusal ? "" : ": pass the same value on all ranks"),
                        refused);
            }
        }
    }

    /**
     * Makes a data set of this rank's rows, as {@link #dataset(HostTensor, int, float[], String)} does.
     *
     * @param rows       values, row by row
     * @param columns    number of values of a row
     * @param labels     label of each row
     * @param parameters LightGBM's parameters; the same on all ranks
     * @return data set, closed with the network
     * @throws IllegalArgumentException if a rank has no rows, sizes that do not fit, or a parameter that contradicts the
     *     network, or if two ranks have different numbers of columns or different parameters of bins
     * @throws IllegalStateException    if the network is closed, or belongs to another thread
     * @throws FerroException           if the group fails or has failed; NATIVE if LightGBM reports an error
     */
    public LightGbmDataset dataset(double[] rows, int columns, float[] labels, String parameters) {
        return dataset(HostTensor.of(requireNonNull(rows, "rows")), columns, labels, parameters);
    }

    /**
     * Makes an untrained model of the ranks. All ranks make this call. The ranks may write a parameter by another alias,
     * and may have different numbers of threads.
     *
     * @param data       this rank's rows, of this network
     * @param parameters LightGBM's parameters, such as {@code "objective=binary num_leaves=31"}; the same on all ranks.
     *     Without {@code tree_learner}, the tree learner is {@code data}
     * @return booster, closed with the network
     * @throws IllegalArgumentException if on any rank a parameter contradicts the network, if parameters that each training
     *     uses differ between ranks, or if the data belongs to another network
     * @throws IllegalStateException    if the network is closed, or belongs to another thread
     * @throws FerroException           if the group fails or has failed; NATIVE if LightGBM reports an error
     */
    public LightGbmBooster booster(LightGbmDataset data, String parameters) {
        requireOwn(requireNonNull(data, "data"));
        requireNonNull(parameters, "parameters");
        String all = checkedOnAllRanks(
                "booster",
                () -> ParameterMerger.of(parameters, group.worldSize()),
                () -> ParameterMerger.ofTrees(parameters));
        return LightGbmBooster.of(this, data, all);
    }

    /**
     * Frees all boosters and data sets of this network, and disconnects LightGBM from the group. Idempotent.
     *
     * @throws IllegalStateException if the network belongs to another thread
     */
    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        requireThread("close");
        while (!open.isEmpty()) {
            open.peek().close();
        }
        isClosed = true;
        LightGbmFunctions.LGBM_NetworkFree();
    }

    ProcessGroup group() {
        return group;
    }

    void opened(LightGbmHandle handle) {
        open.push(handle);
    }

    void closed(LightGbmHandle handle) {
        requireThread("close");
        open.remove(handle);
    }

    void requireOwn(LightGbmHandle handle) {
        if (handle.network() != this) {
            throw new IllegalArgumentException(handle + " belongs to another network");
        }
    }

    /**
     * Calls LightGBM. A callback that has failed gives LightGBM zeros. LightGBM may take the zeros for the end of the
     * training, and return no error. Therefore this method checks for a failed callback before it checks the return code.
     */
    void call(String what, IntSupplier function) {
        require(what);
        int code = function.getAsInt();
        if (callbacks.failure() != null) {
            failure = failed(what, callbacks.failure());
            throw failure;
        }
        if (code != 0) {
            String error = LightGbmFunctions.LGBM_GetLastError();
            failure = new FerroException(
                    FerroException.Code.NATIVE,
                    FerroException.Where.of("LightGBM", group.rank()),
                    during(what) + ": LightGBM reports: " + error);
            group.abort(failure);
            throw failure;
        }
    }

    /** Checks that a method may be called now. */
    void require(String what) {
        requireThread(what);
        if (isClosed) {
            throw new IllegalStateException(what + ": the network of rank " + group.rank() + " is closed");
        }
        if (failure != null) {
            throw new FerroException(failure.code(), failure.where(), failure.getMessage(), failure);
        }
    }

    private void requireThread(String what) {
        if (Thread.currentThread() != thread) {
            throw new IllegalStateException(what + " on thread "
                    + Thread.currentThread().getName() + ": LightGBM keeps its network per thread; use thread "
                    + thread.getName() + ", which connected");
        }
    }

    private FerroException failed(String what, Throwable caught) {
        FerroException first = caught instanceof FerroException known
                ? known
                : group.failure()
                        .orElseGet(() -> new FerroException(
                                FerroException.Code.ABORTED,
                                FerroException.Where.of("LightGBM", group.rank()),
                                caught.toString(),
                                caught));
        return new FerroException(
                first.code(), first.where(), during(what) + ", no model: " + first.getMessage(), caught);
    }

    private String during(String what) {
        return "LightGBM " + what + " on rank " + group.rank() + " of " + group.worldSize() + ", host "
                + LocalHostName.read();
    }
}
