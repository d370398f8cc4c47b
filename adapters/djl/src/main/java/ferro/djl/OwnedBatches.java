package ferro.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.Batchifier;
import java.util.Iterator;

/**
 * Batches that live until they are closed. Those of a data set of DJL are closed by the question for another one, when there is none;
 * a join asks it ahead.
 */
final class OwnedBatches implements Iterator<Batch> {
    private final Iterator<? extends Batch> source;
    private final NDManager manager;

    /** Takes batches; their arrays pass to managers below that of the trainer. */
    OwnedBatches(Iterator<? extends Batch> source, NDManager manager) {
        this.source = source;
        this.manager = manager;
    }

    @Override
    public boolean hasNext() {
        return source.hasNext();
    }

    @Override
    public Batch next() {
        NDManager scope = manager.newSubManager();
        try (Batch found = source.next()) {
            NDList data = found.getData();
            NDList labels = found.getLabels();
            data.attach(scope);
            labels.attach(scope);
            return new Batch(
                    scope,
                    data,
                    labels,
                    found.getSize(),
                    Batchifier.STACK, // cuts batches for several devices, which are refused
                    Batchifier.STACK,
                    found.getProgress(),
                    found.getProgressTotal(),
                    found.getIndices());
        } catch (RuntimeException failure) {
            scope.close();
            throw failure;
        }
    }
}
