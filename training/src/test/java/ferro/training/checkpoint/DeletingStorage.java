package ferro.training.checkpoint;

import java.io.IOException;

/** Passes all calls to another storage, also those that delete. */
class DeletingStorage extends ForwardingStorage {
    DeletingStorage(CheckpointStorage target) {
        super(target);
    }

    @Override
    public void delete(String name) throws IOException {
        target().delete(name);
    }
}
