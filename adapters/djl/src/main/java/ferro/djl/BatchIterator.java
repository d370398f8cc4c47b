package ferro.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.Batchifier;
import java.util.Iterator;

/**
 * Batches that live until they are closed. A data set of DJL closes its last batch when {@code hasNext} returns false.
 * {@link DistributedOptimizer#trainUneven} calls {@code hasNext} before it uses the last batch.
 */
final class BatchIterator implements Iterator<Batch> {
    private final Iterator<? extends Batch> source;
    private final NDManager manager;

    /** Creates an iterator over batches. The arrays of each batch belong to its own submanager of the given manager. */
    BatchIterator(Iterator<? extends Batch> source, NDManager manager) {
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
                    Batchifier.STACK, // splits batches among devices; several devices are not supported
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
