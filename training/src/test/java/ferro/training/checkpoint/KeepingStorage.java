package ferro.training.checkpoint;

/** A storage that deletes nothing, with the four calls that every one has. */
final class KeepingStorage extends ForwardingStorage {
    private final CheckpointStorage storage;

    KeepingStorage(CheckpointStorage storage) {
        this.storage = storage;
    }

    @Override
    CheckpointStorage target() {
        return storage;
    }

    @Override
    public String toString() {
        return "a store that keeps all";
    }
}
