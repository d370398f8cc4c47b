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
 * A sequential model whose gradients travel while those of earlier children are still computed.
 *
 * <p>DJL computes all gradients in one call and tells nobody when one of them is ready. {@link #trainBatch} cuts the graph in front of
 * each child that is trained: it stops the gradient there, goes backward through the last part, hands its gradients to the
 * optimizer, which sends them, and goes backward through the part before from the gradient at the cut. Gradients have the same bits
 * as without cuts.
 *
 * <p>The children are those of the given model, with its parameters and their names; files of parameters are the same. What goes from
 * one child to the next has to be one array where the graph is cut. Where a model cannot be cut at all, everything is sent when the
 * trainer steps, as without this class, and {@link #whyNotOverlapped} says why. A child that keeps an array aside for a later one (a closure, not an
 * argument) cannot be trained so: the engine says that it would go backward through the graph a second time.
 *
 * <p>Not thread-safe, as DJL's trainer is not.
 */
public final class StagedBlock extends AbstractBlock {
    private static final System.Logger LOG = System.getLogger("ferro.djl");

    private final SequentialBlock model;
    /** Where the forward pass of {@link #trainBatch} is to cut; null outside it. */
    private StagePlan plan;

    private final List<Cut> cuts = new ArrayList<>();
    /** Null if the last batch was cut. */
    private String whyNot = "no batch has been trained yet";

    /** In front of a child: what came out of the child before, and what went into this one, which ends the graph. */
    private record Cut(int child, NDArray before, NDArray behind) {}

    private StagedBlock(SequentialBlock model) {
        this.model = model;
        children.addAll(model.getChildren());
    }

    /**
     * Takes a model in stages.
     *
     * @param model the model, with all its children
     * @return a block with the same children and parameters, for {@link ai.djl.Model#setBlock}
     */
    public static StagedBlock of(SequentialBlock model) {
        return new StagedBlock(model);
    }

    /**
     * Computes the gradients of a batch as {@link ai.djl.training.EasyTrain#trainBatch} does, and sends them meanwhile;
     * {@link Trainer#step} behind it waits for the averages and applies them.
     *
     * @param trainer a trainer of a model with this block, on one device
     * @param batch this rank's samples
     * @param optimizer the optimizer in the trainer's config
     * @return the loss, of this rank's samples
     * @throws IllegalStateException if the trainer has another block or more than one device, or {@link Trainer#step} has not been
     *     called since the last batch
     * @throws ferro.FerroException if a rank is lost, or the step ends by an exception on one
     */
    public double trainBatch(Trainer trainer, Batch batch, DistributedOptimizer optimizer) {
        if (trainer.getModel().getBlock() != this || trainer.getDevices().length != 1) {
            throw new IllegalStateException("need a trainer of this block on one device, found one of "
                    + trainer.getModel().getBlock().getClass().getName() + " on " + trainer.getDevices().length);
        }
        Batch own = batch.split(trainer.getDevices(), false)[0];
        BatchData data = new BatchData(batch, new ConcurrentHashMap<>(), new ConcurrentHashMap<>());
        plan = StagePlan.of(model);
        double loss;
        try (GradientCollector collector = trainer.newGradientCollector()) {
            NDList predictions = trainer.forward(own.getData(), own.getLabels());
            NDArray value = trainer.getLoss().evaluate(own.getLabels(), predictions);
            tellWhyNot();
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
            // the gradient of this sum with respect to what came out is what came back, bit by bit
            collector.backward(cut.before().mul(cut.behind().getGradient()).sum());
            end = cut.child();
        }
        ready(optimizer, 0, end);
    }

    private void ready(DistributedOptimizer optimizer, int from, int to) {
        for (int child = to - 1; child >= from; child--) {
            children.get(child).getValue().getParameters().values().stream()
                    .filter(Parameter::requiresGradient)
                    // within a child two blocks may share one
                    .distinct()
                    .forEach(optimizer::ready);
        }
    }

    private void tellWhyNot() {
        String why = cuts.isEmpty()
                ? plan.whyNot()
                        .orElseGet(() -> "in front of none of the children "
                                + plan.cuts().stream()
                                        .mapToObj(StagePlan.names(model)::get)
                                        .toList()
                                + " is there a single array of floats")
                : null;
        if (why != null && !why.equals(whyNot)) {
            LOG.log(System.Logger.Level.WARNING, "gradients travel when all of them are there: {0}", why);
        }
        whyNot = why;
    }

    /**
     * Says why nothing was sent while gradients were computed.
     *
     * @return why the graph of the last batch was cut nowhere; empty if it was cut
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
        // where a child has stopped the gradient already, going backward from here must still be possible
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
