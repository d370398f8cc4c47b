package ferro.djl;

import ai.djl.MalformedModelException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.training.GradientCollector;
import ai.djl.training.ParameterStore;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.Batch;
import ai.djl.training.listener.TrainingListener.BatchData;
import ai.djl.util.PairList;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A sequential model whose gradients are sent while the gradients of earlier children are still computed.
 *
 * <p>DJL computes all gradients in one call and does not report when one of them is ready. {@link #trainBatch}
 * therefore cuts the gradient graph before each trained child and stops the gradient at each cut. The method first runs
 * the backward pass of the last part and passes the gradients of this part to the optimizer, which sends these
 * gradients. Then the method runs the backward pass of each earlier part, from the gradient at the cut behind that
 * part. The gradients have the same bits as the gradients of one backward pass without cuts.
 *
 * <p>The block has the children of the given model, with the same parameters and the same names. Parameter files are
 * therefore the same. At a cut, a child must pass exactly one array to the next child. If a model cannot be cut at all,
 * all gradients are sent when the trainer steps, as without this class. {@link #whyNotOverlapped} then returns the
 * reason.
 *
 * <p>A model does not work with this class if a child keeps an array in a closure for a later child, instead of passing
 * it as an argument. The engine then throws an exception about a second backward pass through the graph.
 *
 * <p>This class is not thread-safe, because DJL's trainer is not thread-safe.
 */
public final class StagedBlock extends AbstractBlock {
    private static final System.Logger LOG = System.getLogger("ferro.djl");

    private final SequentialBlock model;
    /** The plan of the cuts for the forward pass of {@link #trainBatch}; null outside of {@code trainBatch}. */
    private GraphCutPlan plan;

    private final List<Cut> cuts = new ArrayList<>();
    /** The reason why the graph of the last batch was not cut; null if it was cut. */
    private String whyNot = "no batch has been trained yet";

    /**
     * A cut before a child.
     *
     * @param child  the index of the child
     * @param before the output of the previous child
     * @param behind the input of this child, at which the gradient graph of the later part ends
     */
    private record Cut(int child, NDArray before, NDArray behind) {}

    private StagedBlock(SequentialBlock model) {
        this.model = model;
        children.addAll(model.getChildren());
    }

    /**
     * Creates a block that computes the gradients of a model in stages.
     *
     * @param model the model, with all its children
     * @return a block with the same children and parameters, for {@link ai.djl.Model#setBlock}
     */
    public static StagedBlock of(SequentialBlock model) {
        return new StagedBlock(model);
    }

    /**
     * Computes the gradients of a batch as {@link ai.djl.training.EasyTrain#trainBatch} does. The method sends each
     * gradient while the next gradients are computed. Call {@link Trainer#step} afterwards, which waits for the
     * averages and applies the averages.
     *
     * @param trainer a trainer of a model with this block, on one device
     * @param batch the samples of this rank
     * @param optimizer the optimizer in the trainer's config
     * @return the loss of this rank's samples
     * @throws IllegalStateException if the trainer has another block or more than one device, or if
     *     {@link Trainer#step} has not been called since the last batch
     * @throws ferro.FerroException if a rank is lost, or if the step fails with an exception on one rank
     */
    public double trainBatch(Trainer trainer, Batch batch, DistributedOptimizer optimizer) {
        if (trainer.getModel().getBlock() != this || trainer.getDevices().length != 1) {
            throw new IllegalStateException("need a trainer of this block on one device, found a trainer of "
                    + trainer.getModel().getBlock().getClass().getName() + " on " + trainer.getDevices().length
                    + " devices");
        }
        Batch own = batch.split(trainer.getDevices(), false)[0];
        BatchData data = new BatchData(batch, new ConcurrentHashMap<>(), new ConcurrentHashMap<>());
        plan = GraphCutPlan.of(model);
        double loss;
        try (GradientCollector collector = trainer.newGradientCollector()) {
            NDList predictions = trainer.forward(own.getData(), own.getLabels());
            NDArray value = trainer.getLoss().evaluate(own.getLabels(), predictions);
            logWhyNot();
            backward(collector, value, optimizer);
            loss = value.toType(DataType.FLOAT64, false).sum().getDouble();
            data.getLabels().put(trainer.getDevices()[0], own.getLabels());
            data.getPredictions().put(trainer.getDevices()[0], predictions);
        } catch (RuntimeException | Error failure) {
            optimizer.failed(failure);
            throw failure;
        } finally {
            plan = null;
            cuts.clear();
        }
        trainer.notifyListeners(listener -> listener.onTrainingBatch(trainer, data));
        return loss;
    }

    private void backward(GradientCollector collector, NDArray loss, DistributedOptimizer optimizer) {
        collector.backward(loss);
        if (cuts.isEmpty()) {
            return;
        }
        int end = children.size();
        for (int at = cuts.size() - 1; at >= 0; at--) {
            Cut cut = cuts.get(at);
            ready(optimizer, cut.child(), end);
            // the gradient of this sum with respect to the child's output has the same bits as the gradient at the cut
            collector.backward(cut.before().mul(cut.behind().getGradient()).sum());
            end = cut.child();
        }
        ready(optimizer, 0, end);
    }

    private void ready(DistributedOptimizer optimizer, int from, int to) {
        for (int child = to - 1; child >= from; child--) {
            children.get(child).getValue().getParameters().values().stream()
                    .filter(Parameter::requiresGradient)
                    // two blocks within a child may share a parameter
                    .distinct()
                    .forEach(optimizer::ready);
        }
    }

    private void logWhyNot() {
        String why = cuts.isEmpty()
                ? plan.whyNot()
                        .orElseGet(() -> "none of the children "
                                + plan.cuts().stream()
                                        .mapToObj(GraphCutPlan.names(model)::get)
                                        .toList()
                                + " receives a single array of floats")
                : null;
        if (why != null && !why.equals(whyNot)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "gradients are sent only after all of them have been computed: {0}",
                    why);
        }
        whyNot = why;
    }

    /**
     * {@return the reason why the graph of the last batch was not cut, so that no gradient was sent while gradients
     * were computed; empty if it was cut}
     */
    public Optional<String> whyNotOverlapped() {
        return Optional.ofNullable(whyNot);
    }

    @Override
    protected NDList forwardInternal(
            ParameterStore store, NDList inputs, boolean training, PairList<String, Object> params) {
        return model.forward(store, inputs, training, params);
    }

    @Override
    protected NDList forwardInternal(
            ParameterStore store, NDList data, NDList labels, PairList<String, Object> params) {
        if (plan == null || plan.cuts().isEmpty()) {
            return model.forward(store, data, labels, params);
        }
        NDList current = data;
        for (int child = 0; child < children.size(); child++) {
            if (plan.cuts().get(child)) {
                current = cut(child, current);
            }
            current = children.get(child).getValue().forward(store, current, labels, params);
        }
        return current;
    }

    private NDList cut(int child, NDList current) {
        if (current.size() != 1 || !current.head().getDataType().isFloating()) {
            return current;
        }
        NDArray before = current.head();
        NDArray behind = before.stopGradient();
        behind.setRequiresGradient(true);
        // the earlier child may have stopped the gradient itself; the backward pass from this cut must still work
        before.setRequiresGradient(true);
        cuts.add(new Cut(child, before, behind));
        return new NDList(behind);
    }

    @Override
    public void initialize(NDManager manager, DataType dataType, Shape... shapes) {
        model.initialize(manager, dataType, shapes);
        inputShapes = model.getInputShapes();
        inputNames = model.describeInput().keys();
    }

    @Override
    public boolean isInitialized() {
        return model.isInitialized();
    }

    @Override
    public Shape[] getOutputShapes(Shape[] shapes) {
        return model.getOutputShapes(shapes);
    }

    @Override
    public void saveParameters(DataOutputStream to) throws IOException {
        model.saveParameters(to);
    }

    @Override
    public void loadParameters(NDManager manager, DataInputStream from) throws IOException, MalformedModelException {
        model.loadParameters(manager, from);
    }
}
